/* Equal scores weigh all rows alike: the result is the mean of v. */
#include "example.h"

#include <stdio.h>
#include <string.h>

static fldsl_tensor matrix(float *data, int64_t *shape) {
    fldsl_tensor t;
    memset(&t, 0, sizeof(t));
    t.data = data;
    t.device.device_type = 1;
    t.ndim = 2;
    t.dtype.code = 2;
    t.dtype.bits = 32;
    t.dtype.lanes = 1;
    t.shape = shape;
    return t;
}

int main(void) {
    float a[2][4] = {{1, 1, 1, 1}, {7, 7, 7, 7}}, v[4][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}, r[2][3];
    int64_t as[2] = {2, 4}, vs[2] = {4, 3}, rs[2] = {2, 3};
    fldsl_tensor ta = matrix(a[0], as), tv = matrix(v[0], vs), tr = matrix(r[0], rs);
    fldsl_error error;
    fldsl_call call;
    memset(&call, 0, sizeof(call));
    memset(&error, 0, sizeof(error));
    call.abi_version = FLDSL_ABI_VERSION;
    call.error = &error;
    if (fldsl_softmax_sum(&call, &ta, &tv, &tr)) {
        printf("%s\n", error.message);
        return 1;
    }
    printf("%.3f %.3f %.3f\n", r[1][0], r[1][1], r[1][2]); /* 4.500 5.500 6.500 */
    return 0;
}
