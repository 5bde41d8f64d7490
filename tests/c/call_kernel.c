/* The generated header and library from plain C: a causal kernel against loops in double, by function and by name. */
#include "fldsl_attention.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

enum { B = 2, H = 4, G = 2, D = 16, E = 12 };

static float *random_floats(size_t n, unsigned seed) {
    float *x = malloc((n ? n : 1) * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
    return x;
}

static double largest_error(int64_t sq, int64_t sk, int64_t shift, const float *q, const float *k, const float *v, const float *o,
                            const float *lse) {
    double worst = 0, *p = malloc((size_t)(sk ? sk : 1) * sizeof(double));
    for (int64_t b = 0; b < B; b++) {
        for (int64_t h = 0; h < H; h++) {
            const int64_t g = b * G + h / (H / G);
            for (int64_t i = 0; i < sq; i++) {
                const int64_t row = (b * H + h) * sq + i;
                double most = -INFINITY, total = 0;
                for (int64_t j = 0; j < sk; j++) {
                    double s = 0;
                    for (int d = 0; d < D; d++) {
                        s += (double)q[row * D + d] * k[(g * sk + j) * D + d];
                    }
                    p[j] = j <= i + shift ? s * 0.5 : -INFINITY;
                    most = p[j] > most ? p[j] : most;
                }
                for (int64_t j = 0; j < sk; j++) {
                    p[j] = isinf(p[j]) ? 0 : exp(p[j] - most);
                    total += p[j];
                }
                if (total == 0) {
                    worst = isinf(lse[row]) && lse[row] < 0 ? worst : 1;
                } else {
                    worst = fmax(worst, fabs(lse[row] - (most + log(total))));
                }
                for (int e = 0; e < E; e++) {
                    double sum = 0;
                    for (int64_t j = 0; j < sk; j++) {
                        sum += p[j] * v[(g * sk + j) * E + e];
                    }
                    worst = fmax(worst, fabs(o[row * E + e] - (total > 0 ? sum / total : 0)));
                }
            }
        }
    }
    free(p);
    return worst;
}

static void run(int64_t sq, int64_t sk, int64_t shift, const fldsl_kernel *by_name) {
    int64_t qs[4] = {B, H, 0, D}, ks[4] = {B, G, 0, D}, vs[4] = {B, G, 0, E}, os[4] = {B, H, 0, E}, ls[3] = {B, H, 0};
    qs[2] = os[2] = ls[2] = sq;
    ks[2] = vs[2] = sk;
    float *q = random_floats((size_t)(B * H * sq * D), 1), *k = random_floats((size_t)(B * G * sk * D), 2);
    float *v = random_floats((size_t)(B * G * sk * E), 3), *o = random_floats((size_t)(B * H * sq * E), 4);
    float *lse = random_floats((size_t)(B * H * sq), 5);
    fldsl_tensor tq = tensor_of(q, qs, 4, 2, 32), tk = tensor_of(k, ks, 4, 2, 32), tv = tensor_of(v, vs, 4, 2, 32);
    fldsl_tensor to = tensor_of(o, os, 4, 2, 32), tl = tensor_of(lse, ls, 3, 2, 32);
    fldsl_error error;
    fldsl_call call = call_of(&error, 2);
    char name[96];
    int status;
    if (by_name) {
        fldsl_value a[7];
        a[0].tensor = &tq;
        a[1].tensor = &tk;
        a[2].tensor = &tv;
        a[3].f = 0.5;
        a[4].i = shift;
        a[5].tensor = &to;
        a[6].tensor = &tl;
        status = by_name->run(&call, a, 7);
        check(by_name->workspace(a, 7, &error) == 0, "workspace", error.message);
    } else {
        status = fldsl_causal_f32_d64(&call, &tq, &tk, &tv, 0.5f, (int32_t)shift, &to, &tl);
    }
    snprintf(name, sizeof(name), "causal %lld x %lld shift %lld %s", (long long)sq, (long long)sk, (long long)shift,
             by_name ? "by name" : "by function");
    check(status == 0 && largest_error(sq, sk, shift, q, k, v, o, lse) < 2e-6, name, error.message);
    free(q);
    free(k);
    free(v);
    free(o);
    free(lse);
}

int main(void) {
    const int64_t sizes[] = {1, 7, 137};
    for (int i = 0; i < 3; i++) {
        run(sizes[i], sizes[i], 0, NULL);
        run(sizes[i], 50, 50 - sizes[i], NULL);
    }
    run(20, 5, -15, NULL); /* queries without keys */
    run(9, 0, -9, NULL);   /* no keys at all */
    run(0, 9, 9, NULL);    /* nothing to do */
#ifndef FLDSL_STATIC       /* the archive has no table of kernels, so that several link into one program */
    const fldsl_library *library = fldsl_library_info();
    check(library->abi_version == FLDSL_ABI_VERSION && strstr(library->manifest, "\"causal_f32_d64\"") != NULL, "library", "");
    for (int i = 0; i < library->kernel_count; i++) {
        if (strcmp(library->kernels[i].name, "causal_f32_d64") == 0) {
            run(33, 44, 11, &library->kernels[i]);
        }
    }
#endif
    return finish();
}
