// Padded batches: sequence b has lengths[b] keys; what lies behind them is never read into a result.
#include "attention.h"

class LengthsAttention : public fldsl::Attention<LengthsAttention> {
  public:
    Input<Halide::Buffer<int32_t, 1>> lengths{"lengths"};
    Input<int> shift{"shift"}, left{"left"}, right{"right"};

    void generate() {
        attend(score(), j < lengths(b) && between(i + shift, left, right));
    }
};

HALIDE_REGISTER_GENERATOR(LengthsAttention, lengths_attention)
