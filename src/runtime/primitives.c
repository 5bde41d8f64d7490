/* The primitives as C functions: what Halide calls when it runs an algorithm itself, and what a kernel calls for the few that
 * have no vector form. IEEE behaviour comes from the C library. */
#include <math.h>
#include <stdbool.h>

float fldsl_exp(float x) { return expf(x); }
float fldsl_exp2(float x) { return exp2f(x); }
float fldsl_log(float x) { return logf(x); }
float fldsl_log2(float x) { return log2f(x); }
float fldsl_tanh(float x) { return tanhf(x); }
float fldsl_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
float fldsl_sqrt(float x) { return sqrtf(x); }
float fldsl_rsqrt(float x) { return 1.0f / sqrtf(x); }
float fldsl_pow(float x, float y) { return powf(x, y); }
float fldsl_sin(float x) { return sinf(x); }
float fldsl_cos(float x) { return cosf(x); }
float fldsl_erf(float x) { return erff(x); }
bool fldsl_is_nan(float x) { return isnan(x); }
bool fldsl_is_inf(float x) { return isinf(x); }
