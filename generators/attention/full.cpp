// Every query sees every key.
#include "attention.h"

class FullAttention : public fldsl::Attention<FullAttention> {
  public:
    void generate() {
        attend(score());
    }
};

HALIDE_REGISTER_GENERATOR(FullAttention, full_attention)
