/* Shared by the C tests: tensors on the stack, counting, the last line that tests/run.py reads. C99. */
#ifndef FLDSL_TESTS_C_SUPPORT_H
#define FLDSL_TESTS_C_SUPPORT_H

#include "fldsl/runtime.h"

#include <stdio.h>
#include <string.h>

static int passed_cases, failed_cases;

static void check(int condition, const char *what, const char *detail) {
    if (condition) {
        passed_cases++;
    } else {
        failed_cases++;
        printf("FAILED %s: %s\n", what, detail ? detail : "");
    }
}

static int finish(void) {
    printf("cases: %d passed, %d failed\n", passed_cases, failed_cases);
    return failed_cases != 0;
}

/* A dense tensor of up to four dimensions; `shape` must outlive it. */
static fldsl_tensor tensor_of(void *data, int64_t *shape, int ndim, int code, int bits) {
    fldsl_tensor t;
    memset(&t, 0, sizeof(t));
    t.data = data;
    t.device.device_type = 1;
    t.ndim = ndim;
    t.dtype.code = (uint8_t)code;
    t.dtype.bits = (uint8_t)bits;
    t.dtype.lanes = 1;
    t.shape = shape;
    return t;
}

static fldsl_call call_of(fldsl_error *error, int threads) {
    fldsl_call c;
    memset(&c, 0, sizeof(c));
    memset(error, 0, sizeof(*error));
    c.abi_version = FLDSL_ABI_VERSION;
    c.threads = threads;
    c.error = error;
    return c;
}

#endif
