// Packed documents: a query sees keys of its own document, at most `right` after it (0: causal).
#include "attention.h"

class DocumentAttention : public fldsl::Attention<DocumentAttention> {
  public:
    Input<Halide::Buffer<int32_t, 1>> documents{"documents"};
    Input<int> right{"right"};

    void generate() {
        attend(score(), documents(i) == documents(j) && j <= i + right);
    }
};

HALIDE_REGISTER_GENERATOR(DocumentAttention, document_attention)
