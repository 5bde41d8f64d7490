#include "src/lower_halide/lanes.h"

#include "src/lower_halide/primitives.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/support/primitives.h"

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using Halide::cast;
using Halide::Float;
using Halide::Int;
using Halide::reinterpret;
using Halide::UInt;

namespace {

bool is_bfloat(Type t) {
    return t.is_bfloat() && t.bits() == 16;
}

bool is_half(Type t) {
    return t.is_float() && !t.is_bfloat() && t.bits() == 16;
}

Expr bfloat_to_float(const Expr &raw) {
    const int lanes = raw.type().lanes();
    return reinterpret(Float(32, lanes), cast(UInt(32, lanes), raw) << make_const(UInt(32, lanes), 16));
}

/// Round to nearest even on the upper half; a NaN keeps its top bits and gets a quiet bit.
Expr float_to_bfloat(const Expr &x) {
    const Type u = UInt(32, x.type().lanes());
    const Expr bits = reinterpret(u, x);
    const Expr odd = (bits >> make_const(u, 16)) & make_const(u, 1);
    const Expr rounded = (bits + (make_const(u, 0x7fff) + odd)) >> make_const(u, 16);
    const Expr nan = (bits >> make_const(u, 16)) | make_const(u, 0x40);
    return cast(UInt(16, x.type().lanes()), Halide::select(is_nan_bits(x), nan, rounded));
}

class Vectorize {
  public:
    explicit Vectorize(const Bindings &b) : b_(b) {
    }

    Expr run(const Expr &e) {
        if (const Variable *v = e.as<Variable>()) {
            return b_.variable(v->name, v->type);
        }
        if (e.as<IntImm>() || e.as<UIntImm>()) {
            return e;
        }
        if (const FloatImm *f = e.as<FloatImm>()) {
            return FloatImm::make(Float(32), f->value);
        }
        if (const Cast *op = e.as<Cast>()) {
            return convert(op->type, run(op->value));
        }
        if (const Select *op = e.as<Select>()) {
            return select_of(run(op->condition), run(op->true_value), run(op->false_value));
        }
        if (const Not *op = e.as<Not>()) {
            return !run(op->a);
        }
        if (const Call *op = e.as<Call>()) {
            return call(op);
        }
        return binary(e);
    }

  private:
    void match(Expr &a, Expr &b) const {
        const int lanes = std::max(a.type().lanes(), b.type().lanes());
        a = broadcast(a, lanes);
        b = broadcast(b, lanes);
    }

    Expr convert(Type t, const Expr &x) const {
        const int lanes = x.type().lanes();
        if (is_bfloat(t)) {
            return bfloat_to_float(float_to_bfloat(x));
        }
        if (is_half(t)) {
            return cast(Float(32, lanes), cast(Float(16, lanes), x));
        }
        return cast(t.with_lanes(lanes), x);
    }

    Expr select_of(Expr c, Expr a, Expr b) const {
        match(a, b);
        const int lanes = std::max(c.type().lanes(), a.type().lanes());
        if (c.type().lanes() != lanes || a.type().lanes() != lanes) {
            c = broadcast(c, lanes);
            a = broadcast(a, lanes);
            b = broadcast(b, lanes);
        }
        return Select::make(c, a, b);
    }

    template<class Op>
    bool operands(const Expr &e, Expr *a, Expr *b) {
        const Op *op = e.as<Op>();
        if (!op) {
            return false;
        }
        *a = run(op->a);
        *b = run(op->b);
        match(*a, *b);
        return true;
    }

    Expr binary(const Expr &e) {
        Expr a, b;
        if (operands<Add>(e, &a, &b)) {
            return a + b;
        }
        if (operands<Sub>(e, &a, &b)) {
            return a - b;
        }
        if (operands<Mul>(e, &a, &b)) {
            return a * b;
        }
        if (operands<Div>(e, &a, &b)) {
            return a / b;
        }
        if (operands<Mod>(e, &a, &b)) {
            return a % b;
        }
        if (operands<Min>(e, &a, &b)) {
            return Min::make(a, b);
        }
        if (operands<Max>(e, &a, &b)) {
            return Max::make(a, b);
        }
        if (operands<And>(e, &a, &b)) {
            return a && b;
        }
        if (operands<Or>(e, &a, &b)) {
            return a || b;
        }
        const auto floats = [&] { return a.type().is_float(); };
        if (operands<EQ>(e, &a, &b)) {
            return floats() ? equal_floats(a, b) : a == b;
        }
        if (operands<NE>(e, &a, &b)) {
            return floats() ? !equal_floats(a, b) : a != b;
        }
        if (operands<LT>(e, &a, &b)) {
            return floats() ? less_floats(a, b) : a < b;
        }
        if (operands<LE>(e, &a, &b)) {
            return floats() ? less_equal_floats(a, b) : a <= b;
        }
        if (operands<GT>(e, &a, &b)) {
            return floats() ? less_floats(b, a) : a > b;
        }
        if (operands<GE>(e, &a, &b)) {
            return floats() ? less_equal_floats(b, a) : a >= b;
        }
        FLDSL_USER_CHECK(false) << "the CPU back end has no code for " << expr_to_text(e);
        return Expr();
    }

    Expr call(const Call *op) {
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            args.push_back(run(a));
        }
        if (op->call_type == Call::Image) {
            return b_.element(op, args);
        }
        int lanes = 1;
        for (const Expr &a : args) {
            lanes = std::max(lanes, a.type().lanes());
        }
        for (Expr &a : args) {
            a = broadcast(a, lanes);
        }
        const std::string name = primitive_name(op);
        if (!name.empty()) {
            const Expr expanded = expand_primitive(name, args);
            return expanded.defined() ? expanded : Call::make(op->type.with_lanes(lanes), op->name, args, Call::PureExtern);
        }
        FLDSL_USER_CHECK(op->call_type == Call::PureIntrinsic)
            << "the CPU back end has no code for the call " << expr_to_text(Expr(op));
        return Call::make(op->type.with_lanes(lanes), op->name, args, op->call_type);
    }

    const Bindings &b_;
};

}  // namespace

Type arithmetic_type(Type t) {
    return t.is_float() && t.bits() < 32 ? Float(32) : t;
}

Expr to_lanes(const Expr &e, const Bindings &bindings) {
    return Vectorize(bindings).run(e);
}

Expr load_element(const std::string &base, Type t, const Expr &index) {
    if (is_bfloat(t)) {
        return bfloat_to_float(load(base, UInt(16), index));
    }
    if (is_half(t)) {
        return cast(Float(32, index.type().lanes()), load(base, Float(16), index));
    }
    if (t.is_bool()) {
        const Expr byte = load(base, UInt(8), index);
        return byte != make_zero(byte.type());
    }
    return load(base, t, index);
}

Stmt store_element(const std::string &base, Type t, const Expr &value, const Expr &index) {
    if (is_bfloat(t)) {
        return store(base, float_to_bfloat(value), index);
    }
    if (is_half(t)) {
        return store(base, cast(Float(16, value.type().lanes()), value), index);
    }
    if (t.is_bool()) {
        return store(base, cast(UInt(8, value.type().lanes()), value), index);
    }
    return store(base, cast(t.with_lanes(value.type().lanes()), value), index);
}

}  // namespace fldsl::lower_halide
