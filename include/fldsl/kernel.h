// How a kernel runs: directives that a generator's schedule() states, each applied later as a checked rewrite or refused.
//
//     void schedule() {
//         fldsl::Kernel kernel(*this);
//         kernel.tile(i, 64).stream(keys, 64).online().whole(e, 64).order(fldsl::LongestFirst);
//     }
//
// Directives never change what is computed, only the order of rounding. They are recorded beside the generator, so the same
// file still builds with Halide's own generator main, which ignores them.
#pragma once

#include <Halide.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace fldsl {

enum Order {
    Plain,        ///< blocks in grid order, first tiled axis fastest
    LongestFirst  ///< blocks with the longest stream first, so that the last ones to finish are short
};

/// One directive as written: a name, the axis it speaks of (a Var or RDom name, or empty) and a number.
struct Directive {
    std::string name, axis;
    int value = 0;
};

namespace internal {

/// Directives by generator; an entry lives from schedule() until the compiler takes it.
class ScheduleTable {
  public:
    static ScheduleTable &instance() {
        static ScheduleTable table;
        return table;
    }
    void add(const void *generator, Directive d) {
        std::lock_guard<std::mutex> lock(mutex_);
        table_[generator].push_back(std::move(d));
    }
    std::vector<Directive> take(const void *generator) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto it = table_.find(generator);
        if (it == table_.end()) {
            return {};
        }
        std::vector<Directive> directives = std::move(it->second);
        table_.erase(it);
        return directives;
    }

  private:
    std::mutex mutex_;
    std::map<const void *, std::vector<Directive>> table_;
};

}  // namespace internal

class Kernel {
  public:
    explicit Kernel(const Halide::Internal::GeneratorBase &generator) : generator_(&generator) {
    }

    /// Cut a parallel axis into blocks of `rows`; blocks run in parallel.
    Kernel &tile(const Halide::Var &axis, int rows) {
        return add("tile", axis.name(), rows);
    }
    /// Walk the reduced axis in blocks of `size`, in order, inside one block of the grid: what is computed for each
    /// position of it lives in a tile and never reaches memory.
    Kernel &stream(const Halide::RDom &axis, int size) {
        return add("stream", axis.x.name(), size);
    }
    /// Make reductions that depend on each other over the streamed axis one pass, with derived corrections.
    Kernel &online() {
        return add("online", "", 0);
    }
    /// Every block holds the whole axis; its extent at the call is at most `capacity`.
    Kernel &whole(const Halide::Var &axis, int capacity) {
        return add("whole", axis.name(), capacity);
    }
    Kernel &whole(const Halide::RDom &axis, int capacity) {
        return add("whole", axis.x.name(), capacity);
    }
    /// Cut the streamed axis into `parts` that run in parallel, and merge their states: for few rows and many keys.
    Kernel &split(const Halide::RDom &axis, int parts) {
        return add("split", axis.x.name(), parts);
    }
    Kernel &order(Order order) {
        return add("order", "", order);
    }

  private:
    Kernel &add(const char *name, const std::string &axis, int value) {
        internal::ScheduleTable::instance().add(generator_, {name, axis, value});
        return *this;
    }
    const void *generator_;
};

}  // namespace fldsl
