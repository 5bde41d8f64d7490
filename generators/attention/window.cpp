// Sliding window: keys at most `left` before and `right` after the query's position, ends included.
#include "attention.h"

class WindowAttention : public fldsl::Attention<WindowAttention> {
  public:
    Input<int> shift{"shift"}, left{"left"}, right{"right"};

    void generate() {
        attend(score(), between(i + shift, left, right));
    }
};

HALIDE_REGISTER_GENERATOR(WindowAttention, window_attention)
