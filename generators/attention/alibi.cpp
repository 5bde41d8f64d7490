// ALiBi: a bias of slopes[h] * (j - position) on the score, inside a window.
#include "attention.h"

class AlibiAttention : public fldsl::Attention<AlibiAttention> {
  public:
    Input<Halide::Buffer<float, 1>> slopes{"slopes"};
    Input<int> shift{"shift"}, left{"left"}, right{"right"};

    void generate() {
        const Expr position = i + shift;
        attend(score() + slopes(h) * Halide::cast<float>(j - position), between(position, left, right));
    }
};

HALIDE_REGISTER_GENERATOR(AlibiAttention, alibi_attention)
