// Prefix language model: causal, and the first `prefix` keys are seen by every query.
#include "attention.h"

class PrefixAttention : public fldsl::Attention<PrefixAttention> {
  public:
    Input<int> shift{"shift"}, prefix{"prefix"};

    void generate() {
        attend(score(), j <= i + shift || j < prefix);
    }
};

HALIDE_REGISTER_GENERATOR(PrefixAttention, prefix_attention)
