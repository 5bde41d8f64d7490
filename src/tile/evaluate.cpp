#include "src/tile/evaluate.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/support/primitives.h"

#include <cmath>

namespace fldsl::tile {

using namespace Halide::Internal;

namespace {

/// Halide's integer division: the remainder is never negative, and division by zero is zero.
double floor_quotient(double a, double b) {
    return b == 0 ? 0 : b > 0 ? std::floor(a / b) : -std::floor(a / -b);
}

}  // namespace

Code::Code(const Expr &e, const Names &names, Precision precision) : precision_(precision) {
    if (e.defined()) {
        add(e, names);
        slots_.resize(steps_.size());
    }
}

int Code::add(Step step, Type type) {
    step.type = type;
    step.integral = !type.is_float();
    step.single = type == Halide::Float(32);
    const bool exact = type.is_bool() || (type.is_float() && precision_ == Precision::Double);
    const bool computes = step.opcode == Function || (step.opcode >= Plus && step.opcode <= Remainder) || step.opcode == Round;
    step.rounds = computes && !exact;
    steps_.push_back(step);
    return static_cast<int>(steps_.size()) - 1;
}

template<class Op>
bool Code::binary(const Expr &e, Opcode opcode, const Names &names, int *result, bool swap) {
    const Op *op = e.as<Op>();
    if (!op) {
        return false;
    }
    Step step{opcode};
    step.a = add(swap ? op->b : op->a, names);
    step.b = add(swap ? op->a : op->b, names);
    *result = add(step, e.type());
    return true;
}

int Code::add(const Expr &e, const Names &names) {
    Step step{Constant};
    if (const Variable *op = e.as<Variable>()) {
        const std::string &n = op->name;
        const std::string stem = n.size() > 3 ? n.substr(0, n.size() - 3) : "";
        const std::string suffix = n.size() > 3 ? n.substr(n.size() - 3) : "";
        if (names.values.count(n)) {
            step.opcode = Value;
            step.index = names.values.at(n);
        } else if (names.axes.count(n)) {
            step.opcode = Coordinate;
            step.index = names.axes.at(n);
        } else if ((suffix == ".lo" || suffix == ".hi") && names.axes.count(stem)) {
            step.opcode = suffix == ".lo" ? Low : High;
            step.index = names.axes.at(stem);
        } else {
            FLDSL_INTERNAL_CHECK(names.constants.count(n)) << "the interpreter knows no " << n;
            step.constant = names.constants.at(n);
        }
        return add(step, e.type());
    }
    if (const IntImm *op = e.as<IntImm>()) {
        step.constant = static_cast<double>(op->value);
        return add(step, e.type());
    }
    if (const UIntImm *op = e.as<UIntImm>()) {
        step.constant = static_cast<double>(op->value);
        return add(step, e.type());
    }
    if (const FloatImm *op = e.as<FloatImm>()) {
        step.constant = op->value;
        return add(step, e.type());
    }
    if (const Cast *op = e.as<Cast>()) {
        step.opcode = Round;
        step.a = add(op->value, names);
        if (!e.type().is_float() && op->value.type().is_float()) {
            Step truncate{Function};
            truncate.a = truncate.b = step.a;
            truncate.function = [](double x, double) { return std::trunc(x); };
            step.a = add(truncate, Halide::Float(64));
        }
        return add(step, e.type());
    }
    if (const Select *op = e.as<Select>()) {
        step.opcode = Choose;
        step.a = add(op->condition, names);
        step.b = add(op->true_value, names);
        step.c = add(op->false_value, names);
        return add(step, e.type());
    }
    if (const Not *op = e.as<Not>()) {
        step.opcode = Negate;
        step.a = add(op->a, names);
        return add(step, e.type());
    }
    if (const Call *op = e.as<Call>()) {
        for (const Expr &a : op->args) {
            step.args.push_back(add(a, names));
        }
        if (op->call_type == Call::Image) {
            FLDSL_INTERNAL_CHECK(names.tensors.count(op->name)) << "the interpreter knows no tensor " << op->name;
            step.opcode = Element;
            step.index = names.tensors.at(op->name);
            step.tensor = op->name;
            index_.resize(std::max(index_.size(), step.args.size()));
            return add(step, e.type());
        }
        const std::string name = primitive_name(op);
        FLDSL_INTERNAL_CHECK(!name.empty()) << "the interpreter cannot call " << expr_to_text(e);
        step.opcode = Function;
        step.function = find_primitive(name)->reference;
        step.a = step.args[0];
        step.b = step.args.back();
        return add(step, e.type());
    }
    int result = 0;
    const bool known =
        binary<Add>(e, Plus, names, &result) || binary<Sub>(e, Minus, names, &result) ||
        binary<Mul>(e, Times, names, &result) || binary<Div>(e, Quotient, names, &result) ||
        binary<Mod>(e, Remainder, names, &result) || binary<Min>(e, Smaller, names, &result) ||
        binary<Max>(e, Larger, names, &result) || binary<EQ>(e, Equal, names, &result) ||
        binary<NE>(e, Unequal, names, &result) || binary<LT>(e, Less, names, &result) ||
        binary<LE>(e, LessEqual, names, &result) || binary<GT>(e, Less, names, &result, true) ||
        binary<GE>(e, LessEqual, names, &result, true) || binary<And>(e, Both, names, &result) ||
        binary<Or>(e, Either, names, &result);
    FLDSL_INTERNAL_CHECK(known) << "the interpreter cannot evaluate " << expr_to_text(e);
    return result;
}

double Code::run(const Frame &frame) const {
    double *slot = slots_.data();
    const size_t count = steps_.size();
    const BlockValue *values = frame.values.data();
    const Step *steps = steps_.data();
    for (size_t n = 0; n < count; n++) {
        const Step &s = steps[n];
        const double a = slot[s.a], b = slot[s.b];
        double r = 0;
        switch (s.opcode) {
        case Constant:
            r = s.constant;
            break;
        case Coordinate:
            r = static_cast<double>(frame.at[s.index]);
            break;
        case Low:
            r = static_cast<double>(frame.lo[s.index]);
            break;
        case High:
            r = static_cast<double>(frame.hi[s.index]);
            break;
        case Value: {
            const BlockValue &v = values[s.index];
            r = v.data.data()[frame.offset(v)];
            break;
        }
        case Element: {
            for (size_t d = 0; d < s.args.size(); d++) {
                index_[d] = slot[s.args[d]];
            }
            const HostTensor &t = *frame.tensors[s.index];
            const int64_t at = t.offset(index_.data());
            FLDSL_INTERNAL_CHECK(at >= 0) << "an element outside " << s.tensor << " is read, the first index " << index_[0];
            r = t.read(at);
            break;
        }
        case Round:
            r = a;
            break;
        case Choose:
            r = a != 0 ? b : slot[s.c];
            break;
        case Negate:
            r = a == 0;
            break;
        case Function:
            r = s.function(a, b);
            break;
        case Plus:
            r = a + b;
            break;
        case Minus:
            r = a - b;
            break;
        case Times:
            r = a * b;
            break;
        case Quotient:
            r = s.integral ? floor_quotient(a, b) : a / b;
            break;
        case Remainder:
            r = s.integral ? (b == 0 ? 0 : a - b * floor_quotient(a, b)) : a - b * std::floor(a / b);
            break;
        case Smaller:
            r = b < a ? b : a;
            break;
        case Larger:
            r = a < b ? b : a;
            break;
        case Equal:
            r = a == b;
            break;
        case Unequal:
            r = a != b;
            break;
        case Less:
            r = a < b;
            break;
        case LessEqual:
            r = a <= b;
            break;
        case Both:
            r = a != 0 && b != 0;
            break;
        case Either:
            r = a != 0 || b != 0;
            break;
        }
        slot[n] = !s.rounds ? r : s.single ? static_cast<float>(r) : round_to(s.type, r);
    }
    return slot[count - 1];
}

}  // namespace fldsl::tile
