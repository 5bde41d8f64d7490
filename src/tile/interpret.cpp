#include "src/tile/interpret.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace fldsl::tile {

namespace {

struct RunnableOp {
    const Op *op = nullptr;
    int value = -1;               ///< defined by it
    HostTensor *stored = nullptr; ///< Store
    bool rounds = true, single = false;  ///< the type of a reduction: rounded to at all, float32
    std::vector<int> axes, over;
    Code body, where, otherwise, init, identity;
    std::vector<Code> index;
};

struct RunnableStream {
    const Stream *stream = nullptr;
    int axis = 0;
    Code begin, end, live, full;
    std::vector<int> states;
    std::vector<Code> identities;
    std::vector<RunnableOp> head, body;
    std::vector<std::pair<int, int>> updates;
};

/// What a block's tests do.
enum class Tests { Run, Skip, ExpectNone, ExpectAll };

class StageRun {
  public:
    StageRun(const Program &program, std::map<std::string, HostTensor> &tensors, const std::map<std::string, double> &scalars,
             Precision precision, Classes classes)
        : program_(program), precision_(precision), classes_(classes) {
        names_.constants = scalars;
        for (auto &[name, tensor] : tensors) {
            names_.tensors[name] = static_cast<int>(frame_.tensors.size());
            frame_.tensors.push_back(&tensor);
            for (size_t d = 0; d < tensor.extents.size(); d++) {
                names_.constants[name + ".extent." + std::to_string(d)] = static_cast<double>(tensor.extents[d]);
            }
        }
        axes();
        prologue_ = compile(program.prologue);
        for (const Stream &s : program.streams) {
            streams_.push_back(compile(s));
        }
        epilogue_ = compile(program.epilogue);
    }

    void run() {
        blocks(program_.grid.size());
    }

  private:
    Code code(const Expr &e) const {
        return Code(e, names_, precision_);
    }

    void axes() {
        for (const Axis &a : program_.axes) {
            const int64_t extent = static_cast<int64_t>(code(a.extent).run(frame_));
            FLDSL_INTERNAL_CHECK(a.role != AxisRole::Whole || extent <= a.tile)
                << program_.name << ": axis " << a.name << " has extent " << extent << ", allowed: up to " << a.tile;
            names_.axes[a.name] = static_cast<int>(extents_.size());
            extents_.push_back(extent);
            frame_.at.push_back(0);
            frame_.lo.push_back(0);
            frame_.hi.push_back(extent - 1);
        }
    }

    std::vector<int> axis_numbers(const std::vector<std::string> &names) const {
        std::vector<int> numbers;
        for (const std::string &n : names) {
            numbers.push_back(names_.axes.at(n));
        }
        return numbers;
    }

    int add_value(const std::string &name, const std::vector<std::string> &axes) {
        const int n = static_cast<int>(frame_.values.size());
        frame_.values.emplace_back();
        frame_.values.back().axes = axis_numbers(axes);
        names_.values[name] = n;
        return n;
    }

    std::vector<RunnableOp> compile(const std::vector<Op> &ops) {
        std::vector<RunnableOp> all;
        for (const Op &op : ops) {
            RunnableOp r;
            r.op = &op;
            r.rounds = !op.type.is_float() || precision_ == Precision::Float;
            r.single = op.type == Halide::Float(32);
            r.axes = axis_numbers(op.axes);
            r.over = axis_numbers(op.over);
            r.body = code(op.value);
            r.where = code(op.where);
            r.otherwise = code(op.otherwise);
            r.init = code(op.init);
            for (const Expr &e : op.index) {
                r.index.push_back(code(e));
            }
            if (op.kind == OpKind::Reduce) {
                r.identity = code(identity_of(op.combiner, op.type));
            }
            if (op.kind == OpKind::Store) {
                r.stored = frame_.tensors[names_.tensors.at(op.name)];
            } else {
                r.value = add_value(op.name, op.axes);
            }
            all.push_back(std::move(r));
        }
        return all;
    }

    RunnableStream compile(const Stream &s) {
        RunnableStream r;
        r.stream = &s;
        r.axis = names_.axes.at(s.axis);
        r.begin = code(s.begin);
        r.end = code(s.end);
        r.head = compile(s.head);
        r.live = code(s.live);
        r.full = code(s.full);
        for (const State &state : s.states) {
            r.identities.push_back(code(state.identity));
            r.states.push_back(add_value(state.name, state.axes));
        }
        r.body = compile(s.body);
        for (const Update &u : s.updates) {
            r.updates.emplace_back(names_.values.at(u.state), names_.values.at(u.value));
        }
        return r;
    }

    /// Walks the blocks of grid axes [0, n), the last slowest.
    void blocks(size_t n) {
        if (n == 0) {
            block();
            return;
        }
        const int axis = names_.axes.at(program_.grid[n - 1]);
        const int64_t tile = program_.axes[axis].tile;
        for (int64_t lo = 0; lo < extents_[axis]; lo += tile) {
            enter(axis, lo, std::min(lo + tile, extents_[axis]) - 1);
            blocks(n - 1);
        }
    }

    void enter(int axis, int64_t lo, int64_t hi) {
        frame_.at[axis] = frame_.lo[axis] = lo;
        frame_.hi[axis] = hi;
    }

    void block() {
        run(prologue_, Tests::Run);
        for (RunnableStream &s : streams_) {
            run(s);
        }
        run(epilogue_, Tests::Run);
    }

    void run(RunnableStream &s) {
        for (size_t n = 0; n < s.states.size(); n++) {
            const double identity = s.identities[n].run(frame_);
            std::vector<double> &data = shape(s.states[n]);
            std::fill(data.begin(), data.end(), identity);
        }
        const int64_t begin = static_cast<int64_t>(s.begin.run(frame_)), end = static_cast<int64_t>(s.end.run(frame_));
        FLDSL_INTERNAL_CHECK(begin >= end || (begin >= 0 && end <= extents_[s.axis]))
            << program_.name << ": stream " << s.stream->axis << " walks [" << begin << ", " << end << ") of "
            << extents_[s.axis] << " coordinates";
        const int64_t tile = program_.axes[s.axis].tile;
        for (int64_t lo = begin; lo < end; lo += tile) {
            enter(s.axis, lo, std::min(lo + tile, end) - 1);
            step(s);
        }
    }

    /// One block of the stream.
    void step(RunnableStream &s) {
        run(s.head, Tests::Run);
        const bool live = !s.live.defined() || s.live.run(frame_) != 0;
        const bool full = s.full.defined() && s.full.run(frame_) != 0;
        const bool check = classes_ == Classes::Check;
        if (!live && classes_ == Classes::Use) {
            return;
        }
        run(s.body, check && !live                     ? Tests::ExpectNone
                    : check && full                    ? Tests::ExpectAll
                    : full && classes_ == Classes::Use ? Tests::Skip
                                                       : Tests::Run);
        std::vector<std::vector<double>> next;
        for (const auto &u : s.updates) {
            next.push_back(frame_.values[u.second].data);
        }
        for (size_t n = 0; n < s.updates.size(); n++) {
            frame_.values[s.updates[n].first].data = std::move(next[n]);
        }
    }

    /// Gives a value the shape of the current block.
    std::vector<double> &shape(int value) {
        BlockValue &v = frame_.values[value];
        int64_t size = 1;
        v.strides.clear();
        for (const int axis : v.axes) {
            v.strides.push_back(size);
            size *= std::max<int64_t>(0, frame_.hi[axis] - frame_.lo[axis] + 1);
        }
        v.data.resize(size);
        return v.data;
    }

    void run(std::vector<RunnableOp> &ops, Tests tests) {
        for (RunnableOp &op : ops) {
            if (op.value >= 0) {
                shape(op.value);
            }
            for_each(op.axes, op.axes.size(), [&] { element(op, tests); });
        }
    }

    template<class Body>
    void for_each(const std::vector<int> &axes, size_t n, const Body &body) {
        if (n == 0) {
            body();
            return;
        }
        const int axis = axes[n - 1];
        // A scalar coordinate of the grid stays where its block is.
        const int64_t at = frame_.at[axis];
        for (int64_t x = frame_.lo[axis]; x <= frame_.hi[axis]; x++) {
            frame_.at[axis] = x;
            for_each(axes, n - 1, body);
        }
        frame_.at[axis] = at;
    }

    bool kept(const RunnableOp &op, Tests tests) const {
        if (!op.where.defined() || tests == Tests::Skip) {
            return true;
        }
        const bool keep = op.where.run(frame_) != 0;
        FLDSL_INTERNAL_CHECK(!(keep && tests == Tests::ExpectNone)) << program_.name << ": a dead block keeps an element of "
                                                                     << op.op->name << position();
        FLDSL_INTERNAL_CHECK(!(!keep && tests == Tests::ExpectAll)) << program_.name << ": a full block drops an element of "
                                                                     << op.op->name << position();
        return keep;
    }

    std::string position() const {
        std::string text;
        for (size_t n = 0; n < program_.axes.size(); n++) {
            text += (n ? ", " : " at ") + program_.axes[n].name + " = " + std::to_string(frame_.at[n]);
        }
        return text;
    }

    double rounded(const RunnableOp &op, double value) const {
        return !op.rounds ? value : op.single ? static_cast<float>(value) : round_to(op.op->type, value);
    }

    void element(RunnableOp &op, Tests tests) {
        if (op.op->kind == OpKind::Reduce) {
            double total = op.init.defined() ? op.init.run(frame_) : op.identity.run(frame_);
            for_each(op.over, op.over.size(), [&] {
                if (kept(op, tests)) {
                    total = rounded(op, fold(op.op->combiner, total, op.body.run(frame_)));
                }
            });
            BlockValue &v = frame_.values[op.value];
            v.data[frame_.offset(v)] = total;
            return;
        }
        const bool keep = kept(op, tests);
        if (op.stored) {
            if (keep) {
                store(op);
            }
            return;
        }
        BlockValue &v = frame_.values[op.value];
        v.data[frame_.offset(v)] = keep ? op.body.run(frame_) : op.otherwise.run(frame_);
    }

    static double fold(Combiner combiner, double a, double b) {
        switch (combiner) {
        case Combiner::Sum:
            return a + b;
        case Combiner::Product:
            return a * b;
        case Combiner::Max:
            return a < b ? b : a;
        case Combiner::Min:
            return b < a ? b : a;
        }
        return 0;
    }

    void store(const RunnableOp &op) const {
        std::vector<double> index;
        for (const Code &c : op.index) {
            index.push_back(c.run(frame_));
        }
        const int64_t at = op.stored->offset(index.data());
        FLDSL_INTERNAL_CHECK(at >= 0) << program_.name << ": a store outside " << op.op->name << position();
        op.stored->write(at, op.body.run(frame_));
    }

    const Program &program_;
    const Precision precision_;
    const Classes classes_;
    Names names_;
    Frame frame_;
    std::vector<int64_t> extents_;
    std::vector<RunnableOp> prologue_, epilogue_;
    std::vector<RunnableStream> streams_;
};

/// Adds the workspace of `program` that is not there yet. NaN shows what is read before it is written.
void add_workspace(const Program &program, const std::map<std::string, double> &scalars, Precision precision,
                   std::map<std::string, HostTensor> &tensors, std::deque<std::vector<double>> &memory) {
    Names names;
    names.constants = scalars;
    for (const auto &[name, tensor] : tensors) {
        for (size_t d = 0; d < tensor.extents.size(); d++) {
            names.constants[name + ".extent." + std::to_string(d)] = static_cast<double>(tensor.extents[d]);
        }
    }
    for (const Tensor &t : program.tensors) {
        if (t.use != TensorUse::Workspace || tensors.count(t.name)) {
            continue;
        }
        HostTensor w;
        int64_t size = 1;
        for (const Expr &e : t.extents) {
            w.extents.push_back(static_cast<int64_t>(Code(e, names, precision).run(Frame())));
            size *= std::max<int64_t>(0, w.extents.back());
        }
        w.strides = dense_strides(w.extents);
        // Workspace does not round when nothing does.
        w.type = t.type.is_float() && precision == Precision::Double ? Halide::Float(64) : t.type;
        memory.emplace_back(size);
        w.data = memory.back().data();
        for (int64_t n = 0; t.type.is_float() && n < size; n++) {
            w.write(n, std::numeric_limits<double>::quiet_NaN());
        }
        tensors[t.name] = w;
    }
}

}  // namespace

void interpret(const Kernel &kernel, std::map<std::string, HostTensor> &tensors, const std::map<std::string, double> &scalars,
               Precision precision, Classes classes) {
    std::map<std::string, HostTensor> all = tensors;
    std::deque<std::vector<double>> memory;
    for (const Program &p : kernel.stages) {
        for (const Tensor &t : p.tensors) {
            FLDSL_INTERNAL_CHECK(t.use == TensorUse::Workspace || all.count(t.name)) << p.name << ": no tensor " << t.name;
            FLDSL_INTERNAL_CHECK(t.use == TensorUse::Workspace || static_cast<int>(all[t.name].extents.size()) == t.rank)
                << p.name << ": " << t.name << " has rank " << all[t.name].extents.size() << ", not " << t.rank;
        }
        for (const Scalar &s : p.scalars) {
            FLDSL_INTERNAL_CHECK(scalars.count(s.name)) << p.name << ": no scalar " << s.name;
        }
        add_workspace(p, scalars, precision, all, memory);
        StageRun(p, all, scalars, precision, classes).run();
    }
}

}  // namespace fldsl::tile
