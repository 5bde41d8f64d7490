// A query sees the keys up to its own position.
#include "attention.h"

class CausalAttention : public fldsl::Attention<CausalAttention> {
  public:
    Input<int> shift{"shift"};

    void generate() {
        attend(score(), j <= i + shift);
    }
};

HALIDE_REGISTER_GENERATOR(CausalAttention, causal_attention)
