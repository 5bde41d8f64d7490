/* The C interface of fldsl kernel libraries.
 *
 * A library exports one function a kernel, `int fldsl_<kernel>(const fldsl_call *, ...)`, declared in its generated header,
 * and `const fldsl_library *fldsl_library_info(void)`, which lists all of them for callers that look kernels up by name.
 *
 * Rules: no call aborts, prints, allocates device memory or keeps a pointer; all are re-entrant. A call returns 0, or a
 * code below with a text in the caller's error slot; a refused call has written nothing to its outputs.
 * Freestanding: needs <stdint.h> only. Valid C99 and C++.
 */
#ifndef FLDSL_RUNTIME_H
#define FLDSL_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLDSL_ABI_VERSION 1

enum fldsl_status {
    FLDSL_OK = 0,
    FLDSL_ERROR_ARGUMENT = 1,    /* a tensor or scalar does not fit the kernel */
    FLDSL_ERROR_WORKSPACE = 2,   /* workspace missing or too small */
    FLDSL_ERROR_TARGET = 3,      /* this machine cannot run any of the targets built */
    FLDSL_ERROR_RESOURCE = 4,    /* no memory or no thread */
    FLDSL_ERROR_INTERNAL = 5     /* our fault: please report */
};

/* Layout of DLTensor (DLPack 1.x), so that a DLPack capsule's tensor can be passed as it is. Shape and strides are in
 * elements, outermost first as in NumPy; strides NULL means dense. */
typedef struct fldsl_tensor {
    void *data;
    struct { int32_t device_type; int32_t device_id; } device;   /* 1: CPU, 2: CUDA */
    int32_t ndim;
    struct { uint8_t code; uint8_t bits; uint16_t lanes; } dtype; /* code 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} fldsl_tensor;

/* Filled when a call fails; names are empty where they do not apply. */
typedef struct fldsl_error {
    int32_t status;
    char kernel[64];
    char argument[64];
    int32_t dimension;            /* outermost first; -1: none */
    char message[512];            /* what is wrong, with which value, what is allowed */
} fldsl_error;

/* Runs body(data) on up to `threads` threads at once, the caller's among them, and returns when all have; the form of
 * GOMP_parallel (flags is 0). A program that computes with OpenMP passes that: two pools of spinning threads on the same cores
 * cost up to a quarter of the time. */
typedef void (*fldsl_parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);

typedef struct fldsl_call {
    uint32_t abi_version;         /* FLDSL_ABI_VERSION */
    int32_t threads;              /* most threads to use; 0: all that the process may run on */
    void *stream;                 /* CUDA kernels: the caller's stream */
    void *workspace;              /* as many bytes as fldsl_kernel::workspace says, 64-byte aligned; may be NULL for 0 */
    int64_t workspace_bytes;
    fldsl_error *error;           /* may be NULL */
    fldsl_parallel parallel;      /* NULL: the library's own threads */
} fldsl_call;

/* One argument of a call made by name: a tensor, or a scalar in the member of its type. */
typedef union fldsl_value {
    const fldsl_tensor *tensor;
    int64_t i;
    double f;
} fldsl_value;

typedef struct fldsl_kernel {
    const char *name;
    int32_t argument_count;
    int (*run)(const fldsl_call *call, const fldsl_value *arguments, int32_t argument_count);
    /* Workspace bytes for these arguments, or -1 with *error filled. Tensor data is not read and may be NULL. */
    int64_t (*workspace)(const fldsl_value *arguments, int32_t argument_count, fldsl_error *error);
} fldsl_kernel;

typedef struct fldsl_library {
    uint32_t abi_version;
    int32_t kernel_count;
    const fldsl_kernel *kernels;
    const char *manifest;         /* JSON text, UTF-8 */
} fldsl_library;

const fldsl_library *fldsl_library_info(void);

#ifdef __cplusplus
}
#endif
#endif
