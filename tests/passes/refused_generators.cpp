// Generators that are refused, one reason each; refusal_test.cpp has the messages.
#include "fldsl/fldsl.h"

namespace {

using namespace Halide;

/// a(j, i) in, r(i) out.
template<class Derived>
class Refused : public Generator<Derived> {
  public:
    using Base = Generator<Derived>;
    typename Base::template Input<Buffer<float, 2>> a{"a"};
    typename Base::template Output<Buffer<float, 1>> r{"r"};

    void schedule() {
        fldsl::Kernel(*this).tile(i, 8).stream(keys, 4).online();
    }

  protected:
    void domain() {
        keys = RDom(0, a.dim(0).extent(), "keys");
    }
    Var i{"i"}, j{"j"};
    RDom keys;
    Func f{"f"};
};

}  // namespace

// Two updates of one Func.
class TwoUpdates : public Refused<TwoUpdates> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        f(i) += 2.0f * a(keys, i);
        r(i) = f(i);
    }
};
HALIDE_REGISTER_GENERATOR(TwoUpdates, two_updates_refused)

// A prefix sum reads and writes along the domain.
class Scan : public Refused<Scan> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(keys) += a(keys, 0);
        r(i) = f(i);
    }
};
HALIDE_REGISTER_GENERATOR(Scan, scan_refused)

// A sum that does not start from 0.
class Init : public Refused<Init> {
  public:
    void generate() {
        domain();
        f(i) = 3.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
};
HALIDE_REGISTER_GENERATOR(Init, init_refused)

// Alternating subtraction is no fold.
class Subtract : public Refused<Subtract> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) = a(keys, i) - f(i);
        r(i) = f(i);
    }
};
HALIDE_REGISTER_GENERATOR(Subtract, subtract_refused)

// A reduction read at a shifted position.
class Offset : public Refused<Offset> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i) + f(i + 1);
    }
};
HALIDE_REGISTER_GENERATOR(Offset, offset_refused)

// An index that depends on data.
class Unbounded : public Refused<Unbounded> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(cast<int>(a(keys, i)), i);
        r(i) = f(i);
    }
};
HALIDE_REGISTER_GENERATOR(Unbounded, unbounded_refused)

// A reduced axis cannot be tiled.
class TileOfReduced : public Refused<TileOfReduced> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 8).tile(Var(keys.x.name()), 4);
    }
};
HALIDE_REGISTER_GENERATOR(TileOfReduced, tile_of_reduced_refused)

// A reduced axis that the schedule does not speak of.
class Unscheduled : public Refused<Unscheduled> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 8);
    }
};
HALIDE_REGISTER_GENERATOR(Unscheduled, unscheduled_refused)

// Only a stream can be split.
class SplitOfWhole : public Refused<SplitOfWhole> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 8).whole(keys, 64).split(keys, 2);
    }
};
HALIDE_REGISTER_GENERATOR(SplitOfWhole, split_refused)

// Two tiles of one axis.
class Twice : public Refused<Twice> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 8).tile(i, 16).stream(keys, 4);
    }
};
HALIDE_REGISTER_GENERATOR(Twice, twice_refused)

// A constant extent over the capacity.
class Capacity : public Refused<Capacity> {
  public:
    void generate() {
        domain();
        RDom c(0, 10, "c");
        f(i) = 0.0f;
        f(i) += a(c, i);
        r(i) = f(i);
        constant = c;
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 8).whole(constant, 8);
    }

  private:
    RDom constant;
};
HALIDE_REGISTER_GENERATOR(Capacity, capacity_refused)

// A streamed axis that an output has.
class StreamOfOutput : public Refused<StreamOfOutput> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
    void schedule() {
        fldsl::Kernel(*this).stream(RDom(0, 4, "i"), 4).whole(keys, 64);
    }
};
HALIDE_REGISTER_GENERATOR(StreamOfOutput, stream_of_output_refused)

// A tile without rows.
class ZeroTile : public Refused<ZeroTile> {
  public:
    void generate() {
        domain();
        f(i) = 0.0f;
        f(i) += a(keys, i);
        r(i) = f(i);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 0).stream(keys, 4);
    }
};
HALIDE_REGISTER_GENERATOR(ZeroTile, zero_tile_refused)

// A tile that no cache holds.
class OverBudget : public Refused<OverBudget> {
  public:
    void generate() {
        domain();
        f(i) = -std::numeric_limits<float>::infinity();
        f(i) = max(f(i), fldsl::exp(a(keys, i)));
        Func l("l");
        l(i) = 0.0f;
        l(i) += fldsl::exp(a(keys, i)) * fldsl::exp(a(keys, i));
        r(i) = f(i) + l(i);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 4096).stream(keys, 4096).online();
    }
};
HALIDE_REGISTER_GENERATOR(OverBudget, over_budget_refused)
