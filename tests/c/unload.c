/* A program may close a library: threads that called it end, forks work, and it opens again. */
#define _GNU_SOURCE
#include "support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { H = 8, S = 100, D = 16 };

static float q[H * S * D], o[H * S * D], lse[H * S];
static pthread_barrier_t step;

static int call_once(void *handle) {
    const fldsl_library *(*info)(void);
    *(void **)&info = dlsym(handle, "fldsl_library_info");
    int64_t shape[4] = {1, H, S, D}, rows[3] = {1, H, S};
    fldsl_tensor in = tensor_of(q, shape, 4, 2, 32), out = tensor_of(o, shape, 4, 2, 32), l = tensor_of(lse, rows, 3, 2, 32);
    fldsl_error error;
    fldsl_call call = call_of(&error, 2);
    fldsl_value a[6];
    a[0].tensor = a[1].tensor = a[2].tensor = &in;
    a[3].f = 1.0;
    a[4].tensor = &out;
    a[5].tensor = &l;
    for (int i = 0; i < info()->kernel_count; i++) {
        if (strcmp(info()->kernels[i].name, "full_f32_d64") == 0) {
            return info()->kernels[i].run(&call, a, 6);
        }
    }
    return -1;
}

/* Calls, waits until the library is closed, ends. Pinned: workers that it starts must not be. */
static void *caller(void *handle) {
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&first) == 0; c++) {
        CPU_SET(c, &first);
        if (pthread_setaffinity_np(pthread_self(), sizeof(first), &first) != 0) {
            CPU_CLR(c, &first);
        }
    }
    check(call_once(handle) == 0, "a call on a thread of its own", "");
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    return NULL;
}

/* Threads besides the main one that may run wherever the process may. */
static int free_threads(void) {
    cpu_set_t process, one;
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    sched_getaffinity(getpid(), sizeof(process), &process);
    for (struct dirent *e = tasks ? readdir(tasks) : NULL; e; e = readdir(tasks)) {
        const pid_t id = (pid_t)atoi(e->d_name);
        n += id > 0 && id != getpid() && sched_getaffinity(id, sizeof(one), &one) == 0 && CPU_EQUAL(&one, &process);
    }
    if (tasks) {
        closedir(tasks);
    }
    return n;
}

int main(void) {
    pthread_t thread;
    void *handle = dlopen(FLDSL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    check(handle != NULL, "open", "");
    pthread_barrier_init(&step, NULL, 2);
    pthread_create(&thread, NULL, caller, handle);
    pthread_barrier_wait(&step);
    check(free_threads() > 0, "a pinned caller's workers are not pinned", "");
    check(dlclose(handle) == 0, "close", "");
    pthread_barrier_wait(&step);
    pthread_join(thread, NULL);
    check(1, "a caller's thread ends after the close", "");

    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    check(status == 0, "fork after the close", "");

    handle = dlopen(FLDSL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    check(handle && call_once(handle) == 0, "open and call again", "");
    return finish();
}
