// Precompiled for the compiler's sources: Halide.h takes longer to parse than all of ours.
#include <Halide.h>
