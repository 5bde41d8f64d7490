// Threads that run the blocks of a grid: workers are kept, the caller takes part, tickets are handed out in order.
//
// Any number of callers at once; each has at most as many threads as it asks for. After fork the child starts without workers
// and makes its own. Nothing is started before the first call that wants more than one thread.
#pragma once

#include "fldsl/runtime.h"

#include <stdint.h>

namespace fldsl_runtime {

/// Runs [begin, end) with private scratch; a non-zero result stops the job.
using RunRange = int (*)(void *context, int32_t begin, int32_t end, void *scratch);

enum class PoolStatus { Ok, NoMemory, Failed };

/// Calls `run` on pieces of [0, total) from at most `threads` threads (0: the CPUs that the process may use): those that
/// `parallel` brings, or our own when it is null.
PoolStatus parallel_for(int32_t total, int threads, int64_t scratch_bytes, RunRange run, void *context, fldsl_parallel parallel);

int available_cpus();

}  // namespace fldsl_runtime
