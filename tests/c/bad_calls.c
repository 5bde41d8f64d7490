/* Calls that must be refused: each names the argument, the dimension and the value, and leaves the outputs as they were. The
 * process survives all of them: that this program ends with its count is part of the test. */
#include "fldsl_attention.h"
#include "support.h"

#include <limits.h>

enum { B = 1, H = 4, G = 2, SQ = 5, SK = 6, D = 8, E = 7 };

/* One good call; every case spoils one thing. */
typedef struct {
    float q[B * H * SQ * D], k[B * G * SK * D], v[B * G * SK * E], o[B * H * SQ * E], lse[B * H * SQ];
    int64_t qs[4], ks[4], vs[4], os[4], ls[3], qt[4], kt[4], ot[4];
    fldsl_tensor tq, tk, tv, to, tl;
    fldsl_value a[7];
    int count;
    fldsl_call call;
    fldsl_error error;
} Good;

static void set4(int64_t *s, int64_t a, int64_t b, int64_t c, int64_t d) {
    s[0] = a;
    s[1] = b;
    s[2] = c;
    s[3] = d;
}

static void make(Good *g) {
    memset(g, 0, sizeof(*g));
    memset(g->o, 0x5a, sizeof(g->o));
    memset(g->lse, 0x5a, sizeof(g->lse));
    set4(g->qs, B, H, SQ, D);
    set4(g->ks, B, G, SK, D);
    set4(g->vs, B, G, SK, E);
    set4(g->os, B, H, SQ, E);
    set4(g->qt, H * SQ * D, SQ * D, D, 1);
    set4(g->kt, G * SK * D, SK * D, D, 1);
    set4(g->ot, H * SQ * E, SQ * E, E, 1);
    g->ls[0] = B;
    g->ls[1] = H;
    g->ls[2] = SQ;
    g->tq = tensor_of(g->q, g->qs, 4, 2, 32);
    g->tk = tensor_of(g->k, g->ks, 4, 2, 32);
    g->tv = tensor_of(g->v, g->vs, 4, 2, 32);
    g->to = tensor_of(g->o, g->os, 4, 2, 32);
    g->tl = tensor_of(g->lse, g->ls, 3, 2, 32);
    g->a[0].tensor = &g->tq;
    g->a[1].tensor = &g->tk;
    g->a[2].tensor = &g->tv;
    g->a[3].f = 1.0;
    g->a[4].i = 1;
    g->a[5].tensor = &g->to;
    g->a[6].tensor = &g->tl;
    g->count = 7;
    g->call = call_of(&g->error, 1);
}

static void null_tensor(Good *g) { g->a[1].tensor = NULL; }
static void rank(Good *g) { g->tq.ndim = 3; }
static void type(Good *g) { g->tk.dtype.bits = 64; }
static void type_code(Good *g) { g->tv.dtype.code = 4, g->tv.dtype.bits = 16; }
static void lanes(Good *g) { g->tq.dtype.lanes = 4; }
static void cuda(Good *g) { g->tq.device.device_type = 2; }
static void other_device(Good *g) { g->to.device.device_type = 7; }
static void null_shape(Good *g) { g->tv.shape = NULL; }
static void negative_extent(Good *g) { g->ks[2] = -1; }
static void huge_extent(Good *g) { g->ks[2] = (int64_t)INT_MAX + 1; }
static void stride_overflow(Good *g) { g->qt[1] = INT64_MAX / 2, g->tq.strides = g->qt; }
static void stride_minimum(Good *g) { g->kt[2] = INT64_MIN, g->tk.strides = g->kt; }
static void extent_overflow(Good *g) {
    g->qs[0] = g->ks[0] = g->vs[0] = g->os[0] = g->ls[0] = INT_MAX;
    g->qs[1] = g->os[1] = g->ls[1] = INT_MAX;
    g->qs[2] = g->os[2] = g->ls[2] = INT_MAX;
}
static void far_offset(Good *g) { g->tq.byte_offset = (uint64_t)1 << 63; }
static void wrapping_offset(Good *g) { g->to.byte_offset = UINT64_MAX - 64; }
static void reaches_below_zero(Good *g) { g->qt[1] = INT64_MIN / 64, g->tq.strides = g->qt; }
static void null_input(Good *g) { g->tk.data = NULL; }
static void null_output(Good *g) { g->tl.data = NULL; }
static void output_is_input(Good *g) { g->to.data = g->q; }
static void outputs_overlap(Good *g) { g->tl.data = g->o + 3; }
static void zero_output_stride(Good *g) { g->ot[2] = 0, g->to.strides = g->ot; }
static void output_rows_overlap(Good *g) { g->ot[2] = E - 1, g->to.strides = g->ot; }
static void negative_output_stride(Good *g) { g->ot[3] = -1, g->to.strides = g->ot; }
static void head_ratio(Good *g) { g->ks[1] = g->vs[1] = 3; }
static void no_key_heads(Good *g) { g->ks[1] = g->vs[1] = 0; }
static void batch(Good *g) { g->ks[0] = 2; }
static void value_batch(Good *g) { g->vs[0] = 2; }
static void value_heads(Good *g) { g->vs[1] = 1; }
static void value_length(Good *g) { g->vs[2] = SK - 1; }
static void key_dim(Good *g) { g->ks[3] = D - 1; }
static void capacity(Good *g) { g->qs[3] = g->ks[3] = 65; }
static void value_capacity(Good *g) { g->vs[3] = g->os[3] = 65; }
static void output_dim(Good *g) { g->os[3] = E - 1; }
static void output_length(Good *g) { g->os[2] = SQ - 1; }
static void lse_heads(Good *g) { g->ls[1] = H - 1; }
static void lse_rank(Good *g) { g->tl.ndim = 2; }
static void scalar_range(Good *g) { g->a[4].i = (int64_t)INT_MAX + 1; }
static void scalar_low(Good *g) { g->a[4].i = (int64_t)INT_MIN - 1; }
static void few_arguments(Good *g) { g->count = 6; }
static void abi(Good *g) { g->call.abi_version = 99; }
static void threads(Good *g) { g->call.threads = -1; }

static const struct {
    const char *name;
    void (*spoil)(Good *);
    const char *argument;
    int dimension;
    const char *message;
} cases[] = {
    {"null tensor", null_tensor, "k", -1, "k is NULL"},
    {"rank", rank, "q", -1, "q has 3 dimensions; allowed: 4"},
    {"type", type, "k", -1, "k has elements of type float64; allowed: float32"},
    {"type code", type_code, "v", -1, "v has elements of type bfloat16; allowed: float32"},
    {"vector elements", lanes, "q", -1, "float32 (vectors)"},
    {"CUDA tensor", cuda, "q", -1, "q is on device type 2 (CUDA); this kernel runs on the CPU"},
    {"other device", other_device, "o", -1, "o is on device type 7"},
    {"null shape", null_shape, "v", -1, "v has no shape"},
    {"negative extent", negative_extent, "k", 2, "k dimension 2 is -1; allowed: 0 to 2147483647"},
    {"extent over int32", huge_extent, "k", 2, "k dimension 2 is 2147483648; allowed: 0 to 2147483647"},
    {"stride overflow", stride_overflow, "q", 1, "do not fit a 64-bit address space"},
    {"least stride", stride_minimum, "k", 2, "do not fit a 64-bit address space"},
    {"extents overflow", extent_overflow, "q", 1, "do not fit a 64-bit address space"},
    {"offset of half the address space", far_offset, "q", -1, "q with byte_offset 9223372036854775808 and its strides leaves the address space"},
    {"offset that wraps", wrapping_offset, "o", -1, "o with byte_offset 18446744073709551551"},
    {"elements below address 0", reaches_below_zero, "q", -1, "q with byte_offset 0 and its strides leaves the address space"},
    {"null input", null_input, "k", -1, "k has elements but no data"},
    {"null output", null_output, "lse", -1, "lse has elements but no data"},
    {"output is an input", output_is_input, "o", -1, "output o shares memory with q"},
    {"outputs overlap", outputs_overlap, "o", -1, "output o shares memory with lse"},
    {"output stride 0", zero_output_stride, "o", 2, "output o dimension 2 has stride 0: elements overlap"},
    {"output rows overlap", output_rows_overlap, "o", 2, "elements overlap; allowed: at least 7"},
    {"negative output stride", negative_output_stride, "o", 3, "output o dimension 3 has stride -1"},
    {"head ratio", head_ratio, "q", 1, "q dimension 1 is 4; allowed: a whole multiple of the number of key heads"},
    {"no key heads", no_key_heads, "k", 1, "k dimension 1 is 0; allowed: at least 1"},
    {"batch", batch, "k", 0, "k dimension 0 is 2; allowed: 1, as q dimension 0"},
    {"value batch", value_batch, "v", 0, "v dimension 0 is 2; allowed: 1, as q dimension 0"},
    {"value heads", value_heads, "v", 1, "v dimension 1 is 1; allowed: at least 2"},
    {"value length", value_length, "v", 2, "v dimension 2 is 5; allowed: 6, as k dimension 2"},
    {"key head dimension", key_dim, "k", 3, "k dimension 3 is 7; allowed: 8, as q dimension 3"},
    {"capacity", capacity, "q", 3, "q dimension 3 is 65; allowed: 0 to 64"},
    {"value capacity", value_capacity, "v", 3, "v dimension 3 is 65; allowed: 0 to 64"},
    {"output head dimension", output_dim, "o", 3, "o dimension 3 is 6; allowed: 7, as v dimension 3"},
    {"output length", output_length, "o", 2, "o dimension 2 is 4; allowed: 5, as q dimension 2"},
    {"lse heads", lse_heads, "lse", 1, "lse dimension 1 is 3; allowed: 4, as q dimension 1"},
    {"lse rank", lse_rank, "lse", -1, "lse has 2 dimensions; allowed: 3"},
    {"scalar too large", scalar_range, "shift", -1, "shift is 2147483648; allowed: -2147483648 to 2147483647"},
    {"scalar too small", scalar_low, "shift", -1, "shift is -2147483649"},
    {"argument count", few_arguments, "", -1, "causal_f32_d64 takes 7 arguments; 6 were given"},
    {"interface version", abi, "call", -1, "call.abi_version is 99; this library speaks 1"},
    {"negative threads", threads, "call", -1, "call.threads is -1"},
};

static int untouched(const Good *g) {
    const unsigned char *o = (const unsigned char *)g->o, *l = (const unsigned char *)g->lse;
    for (size_t i = 0; i < sizeof(g->o); i++) {
        if (o[i] != 0x5a) {
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof(g->lse); i++) {
        if (l[i] != 0x5a) {
            return 0;
        }
    }
    return 1;
}

static const fldsl_kernel *find(const char *name) {
    const fldsl_library *library = fldsl_library_info();
    for (int i = 0; i < library->kernel_count; i++) {
        if (strcmp(library->kernels[i].name, name) == 0) {
            return &library->kernels[i];
        }
    }
    return NULL;
}

int main(void) {
    static Good g;
    const fldsl_kernel *kernel = find("causal_f32_d64");
    make(&g);
    check(kernel->run(&g.call, g.a, g.count) == 0 && !untouched(&g), "the good call", g.error.message);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make(&g);
        cases[i].spoil(&g);
        const int status = kernel->run(&g.call, g.a, g.count);
        const int named = strcmp(g.error.argument, cases[i].argument) == 0 && g.error.dimension == cases[i].dimension &&
                          strcmp(g.error.kernel, "causal_f32_d64") == 0;
        check(status == FLDSL_ERROR_ARGUMENT && g.error.status == status && named && strstr(g.error.message, cases[i].message) != NULL &&
                  untouched(&g),
              cases[i].name, g.error.message);
        /* Without an error slot the same refusal is a status alone. */
        make(&g);
        cases[i].spoil(&g);
        g.call.error = NULL;
        check(kernel->run(&g.call, g.a, g.count) == FLDSL_ERROR_ARGUMENT && untouched(&g), cases[i].name, "without an error slot");
    }
    make(&g);
    check(kernel->run(NULL, g.a, g.count) == FLDSL_ERROR_ARGUMENT && untouched(&g), "no call", "");
    check(kernel->run(&g.call, NULL, 7) == FLDSL_ERROR_ARGUMENT && untouched(&g), "no arguments", "");
    check(kernel->workspace(NULL, 7, &g.error) == -1 && g.error.status == FLDSL_ERROR_ARGUMENT, "workspace of no arguments", "");
    return finish();
}
