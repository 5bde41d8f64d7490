// All options at once as run-time values, for the combinations that have no kernel of their own:
//   scores     scale, then softcap (0: none), then slopes[h] * (j - position)
//   kept keys  ((inside the window) or j < prefix) and j < lengths[b] and documents_q[i] == documents_k[j]
#include "attention.h"

class GeneralAttention : public fldsl::Attention<GeneralAttention> {
  public:
    Input<Halide::Buffer<int32_t, 1>> lengths{"lengths"}, documents_q{"documents_q"}, documents_k{"documents_k"};
    Input<Halide::Buffer<float, 1>> slopes{"slopes"};
    Input<float> softcap{"softcap"};
    Input<int> shift{"shift"}, left{"left"}, right{"right"}, prefix{"prefix"};

    void generate() {
        const Expr position = i + shift;
        const Expr plain = score();
        const Expr cap = Halide::select(softcap == 0.0f, 1.0f, softcap);
        const Expr capped = Halide::select(softcap == 0.0f, plain, cap * fldsl::tanh(plain * (1.0f / cap)));
        attend(capped + slopes(h) * Halide::cast<float>(j - position),
               (between(position, left, right) || j < prefix) && j < lengths(b) && documents_q(i) == documents_k(j));
    }
};

HALIDE_REGISTER_GENERATOR(GeneralAttention, general_attention)
