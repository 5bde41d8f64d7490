/* The pipeline that Halide's own generator main made of hand_written.cpp, called and compared with loops in double. */
#include "hand_written.h"

#include <HalideBuffer.h>
#include <cmath>
#include <cstdio>

int main() {
    constexpr int d = 8, e = 5, sq = 9, sk = 13, heads = 4, key_heads = 2, batch = 2;
    Halide::Runtime::Buffer<float> q(d, sq, heads, batch), k(d, sk, key_heads, batch), v(e, sk, key_heads, batch);
    Halide::Runtime::Buffer<float> o(e, sq, heads, batch), lse(sq, heads, batch);
    unsigned seed = 1;
    for (auto *b : {&q, &k, &v}) {
        b->for_each_value([&](float &x) {
            seed = seed * 1664525u + 1013904223u;
            x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
        });
    }
    const int shift = sk - sq;
    int passed = 0, failed = 0;
    if (hand_written(q, k, v, 0.5f, shift, o, lse) != 0) {
        failed++;
    }
    for (int b = 0; b < batch; b++) {
        for (int h = 0; h < heads; h++) {
            double worst = 0;
            for (int i = 0; i < sq; i++) {
                double p[sk], most = -INFINITY, total = 0;
                for (int j = 0; j < sk; j++) {
                    double s = 0;
                    for (int x = 0; x < d; x++) {
                        s += static_cast<double>(q(x, i, h, b)) * k(x, j, h / 2, b);
                    }
                    p[j] = j <= i + shift ? s * 0.5 : -INFINITY;
                    most = std::fmax(most, p[j]);
                }
                for (double &x : p) {
                    x = std::exp(x - most);
                    total += x;
                }
                worst = std::fmax(worst, std::fabs(lse(i, h, b) - (most + std::log(total))));
                for (int x = 0; x < e; x++) {
                    double sum = 0;
                    for (int j = 0; j < sk; j++) {
                        sum += p[j] * v(x, j, h / 2, b);
                    }
                    worst = std::fmax(worst, std::fabs(o(x, i, h, b) - sum / total));
                }
            }
            worst < 1e-5 ? passed++ : failed++;
        }
    }
    std::printf("cases: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
