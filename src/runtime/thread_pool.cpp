#include "src/runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

namespace fldsl_runtime {

namespace {

constexpr int max_workers = 255;

struct Job {
    RunRange run;
    void *context;
    int64_t scratch_bytes;
    int32_t total, piece;
    int32_t next;      // first ticket not handed out; atomic
    int32_t status;    // PoolStatus; atomic
    int helpers_wanted;  // under the pool's lock, as all below
    int helpers_running;
    Job *following;
};

struct Pool {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
    Job *jobs = nullptr;
    int workers = 0;
} pool;

// ---- scratch, one buffer a thread, grown when needed

pthread_key_t scratch_key;
pthread_once_t scratch_once = PTHREAD_ONCE_INIT;

struct Scratch {
    void *memory;
    int64_t bytes;
};

void free_scratch(void *value) {
    Scratch *s = static_cast<Scratch *>(value);
    free(s->memory);
    free(s);
}

void after_fork() {
    // Workers did not survive, and the lock may have been held by one of them.
    pthread_mutex_init(&pool.lock, nullptr);
    pthread_cond_init(&pool.work, nullptr);
    pthread_cond_init(&pool.done, nullptr);
    pool.jobs = nullptr;
    pool.workers = 0;
}

void start_up() {
    pthread_key_create(&scratch_key, free_scratch);
    pthread_atfork(nullptr, nullptr, after_fork);
}

void *scratch_of(int64_t bytes) {
    Scratch *s = static_cast<Scratch *>(pthread_getspecific(scratch_key));
    if (!s) {
        s = static_cast<Scratch *>(calloc(1, sizeof(Scratch)));
        if (!s || pthread_setspecific(scratch_key, s) != 0) {
            free(s);
            return nullptr;
        }
    }
    if (s->bytes < bytes) {
        free(s->memory);
        s->memory = nullptr;
        s->bytes = 0;
        if (posix_memalign(&s->memory, 64, static_cast<size_t>(bytes)) != 0) {
            s->memory = nullptr;
            return nullptr;
        }
        s->bytes = bytes;
    }
    return s->memory;
}

// ---- jobs

void fail(Job *job, PoolStatus status) {
    __atomic_store_n(&job->status, static_cast<int32_t>(status), __ATOMIC_RELAXED);
    __atomic_store_n(&job->next, job->total, __ATOMIC_RELAXED);
}

void run_tickets(Job *job) {
    void *scratch = scratch_of(job->scratch_bytes > 0 ? job->scratch_bytes : 64);
    if (!scratch) {
        fail(job, PoolStatus::NoMemory);
        return;
    }
    int32_t begin = __atomic_load_n(&job->next, __ATOMIC_RELAXED);
    while (begin < job->total) {
        const int32_t left = job->total - begin;
        const int32_t end = begin + (left < job->piece ? left : job->piece);
        if (!__atomic_compare_exchange_n(&job->next, &begin, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            continue;
        }
        if (job->run(job->context, begin, end, scratch) != 0) {
            fail(job, PoolStatus::Failed);
        }
        begin = __atomic_load_n(&job->next, __ATOMIC_RELAXED);
    }
}

void run_tickets_of(void *job) {
    run_tickets(static_cast<Job *>(job));
}

Job *job_that_wants_help() {
    for (Job *j = pool.jobs; j; j = j->following) {
        if (j->helpers_wanted > 0 && __atomic_load_n(&j->next, __ATOMIC_RELAXED) < j->total) {
            return j;
        }
    }
    return nullptr;
}

void *worker(void *) {
    pthread_mutex_lock(&pool.lock);
    while (true) {
        Job *job = job_that_wants_help();
        if (!job) {
            pthread_cond_wait(&pool.work, &pool.lock);
            continue;
        }
        job->helpers_wanted--;
        job->helpers_running++;
        pthread_mutex_unlock(&pool.lock);
        run_tickets(job);
        pthread_mutex_lock(&pool.lock);
        if (--job->helpers_running == 0) {
            pthread_cond_broadcast(&pool.done);
        }
    }
}

/// Under the lock. Fewer workers than wished for is no error: the caller runs what nobody else takes.
void ensure_workers(int wanted) {
    while (pool.workers < wanted && pool.workers < max_workers) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        // Workers serve all callers: they run where the process may, not where this caller happens to be pinned, and take
        // no signals.
        cpu_set_t process;
        if (sched_getaffinity(getpid(), sizeof(process), &process) == 0) {
            pthread_attr_setaffinity_np(&attributes, sizeof(process), &process);
        }
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const int rc = pthread_create(&thread, &attributes, worker, nullptr);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        pthread_attr_destroy(&attributes);
        if (rc != 0) {
            return;
        }
        pool.workers++;
    }
}

}  // namespace

int available_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return 1;
    }
    const int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

PoolStatus parallel_for(int32_t total, int threads, int64_t scratch_bytes, RunRange run, void *context, fldsl_parallel parallel) {
    if (total <= 0) {
        return PoolStatus::Ok;
    }
    pthread_once(&scratch_once, start_up);
    if (threads <= 0) {
        threads = available_cpus();
    }
    if (threads > total) {
        threads = total;
    }
    Job job = {};
    job.run = run;
    job.context = context;
    job.scratch_bytes = scratch_bytes;
    job.total = total;
    // Small pieces keep threads equally busy to the end; a hundred a thread keeps tickets cheap.
    job.piece = total / (threads * 100) > 1 ? total / (threads * 100) : 1;
    if (threads > 1 && parallel) {
        parallel(run_tickets_of, &job, static_cast<unsigned>(threads), 0);
        return static_cast<PoolStatus>(job.status);
    }
    if (threads > 1) {
        pthread_mutex_lock(&pool.lock);
        ensure_workers(threads - 1);
        job.helpers_wanted = threads - 1;
        job.following = pool.jobs;
        pool.jobs = &job;
        pthread_cond_broadcast(&pool.work);
        pthread_mutex_unlock(&pool.lock);
    }
    run_tickets(&job);
    if (threads > 1) {
        pthread_mutex_lock(&pool.lock);
        job.helpers_wanted = 0;
        while (job.helpers_running > 0) {
            pthread_cond_wait(&pool.done, &pool.lock);
        }
        for (Job **link = &pool.jobs; *link; link = &(*link)->following) {
            if (*link == &job) {
                *link = job.following;
                break;
            }
        }
        pthread_mutex_unlock(&pool.lock);
    }
    return static_cast<PoolStatus>(job.status);
}

}  // namespace fldsl_runtime
