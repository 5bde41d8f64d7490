// Scores are bounded smoothly to (-softcap, softcap), inside a window.
#include "attention.h"

class SoftcapAttention : public fldsl::Attention<SoftcapAttention> {
  public:
    Input<float> softcap{"softcap"};
    Input<int> shift{"shift"}, left{"left"}, right{"right"};

    void generate() {
        attend(softcap * fldsl::tanh(score() * (1.0f / softcap)), between(i + shift, left, right));
    }
};

HALIDE_REGISTER_GENERATOR(SoftcapAttention, softcap_attention)
