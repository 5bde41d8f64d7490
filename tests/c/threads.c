/* The runtime's threads: many callers at once, any thread count, a caller's own threads, after fork. */
#define _DEFAULT_SOURCE
#include "fldsl_attention.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { H = 8, S = 200, D = 32, N = H * S * D };

static float q[N], expected[N], expected_lse[H * S];

static int run(float *o, float *lse, int threads, fldsl_parallel parallel) {
    int64_t shape[4] = {1, H, S, D}, rows[3] = {1, H, S};
    fldsl_tensor in = tensor_of(q, shape, 4, 2, 32), out = tensor_of(o, shape, 4, 2, 32), l = tensor_of(lse, rows, 3, 2, 32);
    fldsl_error error;
    fldsl_call call = call_of(&error, threads);
    call.parallel = parallel;
    return fldsl_full_f32_d64(&call, &in, &in, &in, 0.2f, &out, &l);
}

static int same(int threads, fldsl_parallel parallel) {
    float *o = malloc(sizeof(expected)), *lse = malloc(sizeof(expected_lse));
    const int ok = run(o, lse, threads, parallel) == 0 && memcmp(o, expected, sizeof(expected)) == 0 &&
                   memcmp(lse, expected_lse, sizeof(expected_lse)) == 0;
    free(o);
    free(lse);
    return ok;
}

static void *many(void *bad) {
    for (int i = 0; i < 20; i++) {
        if (!same(1 + i % 4, NULL)) {
            *(int *)bad = 1;
        }
    }
    return NULL;
}

static int count_threads(void) {
    int n = 0;
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    while (status && fgets(line, sizeof(line), status)) {
        sscanf(line, "Threads: %d", &n);
    }
    if (status) {
        fclose(status);
    }
    return n;
}

static unsigned wanted_threads;

/* Runs the body three times one after the other: tickets must come out right however many bodies there are. */
static void in_turn(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
    wanted_threads = threads + flags;
    body(data);
    body(data);
    body(data);
}

int main(void) {
    for (int i = 0; i < N; i++) {
        q[i] = (float)((i * 7919) % 1000) / 500.0f - 1.0f;
    }
    check(run(expected, expected_lse, 1, NULL) == 0 && count_threads() == 1, "one thread is the caller's own", "");
    check(same(2, NULL) && count_threads() == 2, "two threads", "");
    check(same(4, NULL) && count_threads() == 4, "four threads", "");
    check(same(2, NULL) && count_threads() == 4, "workers are kept", "");
    check(same(3, in_turn) && wanted_threads == 3, "the caller's threads", "");

    int bad = 0;
    pthread_t callers[8];
    for (int i = 0; i < 8; i++) {
        pthread_create(&callers[i], NULL, many, &bad);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(callers[i], NULL);
    }
    check(!bad, "eight callers at once", "");

    const pid_t child = fork();
    if (child == 0) {
        _exit(same(2, NULL) && same(4, NULL) ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    check(status == 0, "a child after fork", "");
    check(same(4, NULL), "the parent after fork", "");
    return finish();
}
