#include "src/passes/factor.h"

#include "src/support/expr_text.h"
#include "src/support/primitives.h"

namespace fldsl::passes {

using namespace Halide::Internal;

namespace {

/// Neutral elements stay undefined so that results carry no `* 1` and `+ 0`.
Expr mul(const Expr &a, const Expr &b) {
    return !a.defined() ? b : !b.defined() ? a : a * b;
}

Expr div(const Expr &a, const Expr &b, const Expr &like) {
    if (!b.defined()) {
        return a;
    }
    return (a.defined() ? a : make_one(like.type())) / b;
}

Expr add(const Expr &a, const Expr &b) {
    return !a.defined() ? b : !b.defined() ? a : a + b;
}

Expr sub(const Expr &a, const Expr &b) {
    if (!b.defined()) {
        return a;
    }
    return a.defined() ? a - b : make_zero(b.type()) - b;
}

bool same(const Expr &a, const Expr &b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}

struct Function {
    std::string name;
    const Call *call = nullptr;
};

Function function_of(const Expr &e) {
    const Call *call = e.as<Call>();
    if (!call || call->call_type != Call::PureExtern) {
        return {};
    }
    return {primitive_name(call), call};
}

Expr apply(const Function &f, const std::vector<Expr> &args) {
    return Call::make(f.call->type, f.call->name, args, f.call->call_type);
}

bool is_exponential(const std::string &name) {
    return name == "exp" || name == "exp2";
}

std::string obstacle_of(const Expr &e) {
    const Function f = function_of(e);
    std::string what = f.call ? f.name
                       : e.as<Add>() ? "+"
                       : e.as<Sub>() ? "-"
                       : e.as<Mul>() ? "*"
                       : e.as<Div>() ? "/"
                       : e.as<Max>() ? "max"
                       : e.as<Min>() ? "min"
                       : e.as<Select>() ? "select"
                       : e.as<Cast>()   ? "a cast"
                                        : "this operation";
    return what + " in " + expr_to_text(e);
}

Split failed(const Expr &e) {
    Split s;
    s.obstacle = obstacle_of(e);
    return s;
}

Split found(Expr with_axis, Expr with_ancestor) {
    Split s;
    s.found = true;
    s.with_axis = std::move(with_axis);
    s.with_ancestor = std::move(with_ancestor);
    return s;
}

}  // namespace

Split split_sum(const Expr &e, const Dependence &depends) {
    if (!depends.on_ancestor(e)) {
        return found(e, Expr());
    }
    if (!depends.on_axis(e)) {
        return found(Expr(), e);
    }
    const auto constant = [&](const Expr &x) { return !depends.on_axis(x) && !depends.on_ancestor(x); };
    if (const Add *op = e.as<Add>()) {
        const Split a = split_sum(op->a, depends), b = split_sum(op->b, depends);
        return !a.found ? a : !b.found ? b : found(add(a.with_axis, b.with_axis), add(a.with_ancestor, b.with_ancestor));
    }
    if (const Sub *op = e.as<Sub>()) {
        const Split a = split_sum(op->a, depends), b = split_sum(op->b, depends);
        return !a.found ? a : !b.found ? b : found(sub(a.with_axis, b.with_axis), sub(a.with_ancestor, b.with_ancestor));
    }
    if (const Mul *op = e.as<Mul>()) {
        const bool left = constant(op->a);
        if (left || constant(op->b)) {
            const Expr c = left ? op->a : op->b;
            const Split s = split_sum(left ? op->b : op->a, depends);
            return s.found ? found(s.with_axis.defined() ? s.with_axis * c : Expr(),
                                   s.with_ancestor.defined() ? s.with_ancestor * c : Expr())
                           : s;
        }
        return failed(e);
    }
    if (const Div *op = e.as<Div>()) {
        if (constant(op->b)) {
            const Split s = split_sum(op->a, depends);
            return s.found ? found(s.with_axis.defined() ? s.with_axis / op->b : Expr(),
                                   s.with_ancestor.defined() ? s.with_ancestor / op->b : Expr())
                           : s;
        }
        return failed(e);
    }
    const Function f = function_of(e);
    if (f.name == "log" || f.name == "log2") {
        const Split s = split_product(f.call->args[0], depends);
        return s.found ? found(s.with_axis.defined() ? apply(f, {s.with_axis}) : Expr(),
                               s.with_ancestor.defined() ? apply(f, {s.with_ancestor}) : Expr())
                       : s;
    }
    return failed(e);
}

Split split_product(const Expr &e, const Dependence &depends) {
    if (!depends.on_ancestor(e)) {
        return found(e, Expr());
    }
    if (!depends.on_axis(e)) {
        return found(Expr(), e);
    }
    if (const Mul *op = e.as<Mul>()) {
        const Split a = split_product(op->a, depends), b = split_product(op->b, depends);
        return !a.found ? a : !b.found ? b : found(mul(a.with_axis, b.with_axis), mul(a.with_ancestor, b.with_ancestor));
    }
    if (const Div *op = e.as<Div>()) {
        const Split a = split_product(op->a, depends), b = split_product(op->b, depends);
        return !a.found ? a
               : !b.found ? b
                          : found(div(a.with_axis, b.with_axis, e), div(a.with_ancestor, b.with_ancestor, e));
    }
    if (e.as<Add>() || e.as<Sub>()) {
        const Add *plus = e.as<Add>();
        const Expr &x = plus ? plus->a : e.as<Sub>()->a, &y = plus ? plus->b : e.as<Sub>()->b;
        const Split a = split_product(x, depends), b = split_product(y, depends);
        if (!a.found || !b.found) {
            return !a.found ? a : b;
        }
        if (is_const_zero(x)) {
            return found(sub(Expr(), b.with_axis), b.with_ancestor);
        }
        if (a.with_axis.defined() && b.with_axis.defined() && same(a.with_ancestor, b.with_ancestor)) {
            return found(plus ? a.with_axis + b.with_axis : a.with_axis - b.with_axis, a.with_ancestor);
        }
        return failed(e);
    }
    if (const Select *op = e.as<Select>()) {
        if (depends.on_ancestor(op->condition)) {
            return failed(e);
        }
        const Split a = split_product(op->true_value, depends), b = split_product(op->false_value, depends);
        if (!a.found || !b.found) {
            return !a.found ? a : b;
        }
        const Expr one = make_one(e.type());
        const Expr t = a.with_axis.defined() ? a.with_axis : one, f = b.with_axis.defined() ? b.with_axis : one;
        if (is_const_zero(op->true_value)) {
            return found(Halide::select(op->condition, make_zero(e.type()), f), b.with_ancestor);
        }
        if (is_const_zero(op->false_value)) {
            return found(Halide::select(op->condition, t, make_zero(e.type())), a.with_ancestor);
        }
        return same(a.with_ancestor, b.with_ancestor) ? found(Halide::select(op->condition, t, f), a.with_ancestor)
                                                      : failed(e);
    }
    const Function f = function_of(e);
    if (is_exponential(f.name)) {
        const Split s = split_sum(f.call->args[0], depends);
        return s.found ? found(s.with_axis.defined() ? apply(f, {s.with_axis}) : Expr(),
                               s.with_ancestor.defined() ? apply(f, {s.with_ancestor}) : Expr())
                       : s;
    }
    if (f.name == "pow") {
        const Expr &base = f.call->args[0], &exponent = f.call->args[1];
        if (!depends.on_ancestor(base) && !depends.on_axis(base)) {
            const Split s = split_sum(exponent, depends);
            return s.found ? found(s.with_axis.defined() ? apply(f, {base, s.with_axis}) : Expr(),
                                   s.with_ancestor.defined() ? apply(f, {base, s.with_ancestor}) : Expr())
                           : s;
        }
        if (!depends.on_ancestor(exponent) && !depends.on_axis(exponent)) {
            const Split s = split_product(base, depends);
            return s.found ? found(s.with_axis.defined() ? apply(f, {s.with_axis, exponent}) : Expr(),
                                   s.with_ancestor.defined() ? apply(f, {s.with_ancestor, exponent}) : Expr())
                           : s;
        }
    }
    return failed(e);
}

namespace {

bool exponentials_only(const Expr &e) {
    if (const Mul *op = e.as<Mul>()) {
        return exponentials_only(op->a) && exponentials_only(op->b);
    }
    if (const Div *op = e.as<Div>()) {
        return (is_const_one(op->a) || exponentials_only(op->a)) && exponentials_only(op->b);
    }
    return is_exponential(function_of(e).name);
}

RunningSplit running_failed(const std::string &obstacle) {
    RunningSplit s;
    s.obstacle = obstacle;
    return s;
}

RunningSplit running_found(Expr running, Expr factor, Expr deferred) {
    RunningSplit s;
    s.found = true;
    s.running = std::move(running);
    s.factor = std::move(factor);
    s.deferred = std::move(deferred);
    return s;
}

}  // namespace

RunningSplit split_running(const Expr &e, const Dependence &depends) {
    if (!depends.on_ancestor(e)) {
        return running_found(e, Expr(), Expr());
    }
    if (const Mul *op = e.as<Mul>()) {
        const RunningSplit a = split_running(op->a, depends), b = split_running(op->b, depends);
        return !a.found ? a
               : !b.found ? b
                          : running_found(mul(a.running, b.running), mul(a.factor, b.factor), mul(a.deferred, b.deferred));
    }
    if (const Div *op = e.as<Div>()) {
        const RunningSplit a = split_running(op->a, depends), b = split_running(op->b, depends);
        return !a.found ? a
               : !b.found ? b
                          : running_found(div(a.running, b.running, e), div(a.factor, b.factor, e),
                                          div(a.deferred, b.deferred, e));
    }
    const Function f = function_of(e);
    const bool exponential =
        is_exponential(f.name) || (f.name == "pow" && !depends.on_axis(f.call->args[0]) && !depends.on_ancestor(f.call->args[0]));
    const Split s = split_product(e, depends);
    if (!s.found) {
        return running_failed(s.obstacle);
    }
    if (exponential) {
        return running_found(e, s.with_ancestor, Expr());
    }
    if (!s.with_axis.defined()) {
        return running_found(Expr(), Expr(), e);
    }
    // Several terms with an equal factor: an exponential one keeps the range, a rational one can wait for the end.
    return exponentials_only(s.with_ancestor) ? running_found(e, s.with_ancestor, Expr())
                                              : running_found(s.with_axis, Expr(), s.with_ancestor);
}

Expr factor_ratio(const Expr &factor, const std::function<Expr(const Expr &)> &renew,
                  const std::function<Expr(const Expr &)> &age) {
    if (const Mul *op = factor.as<Mul>()) {
        return factor_ratio(op->a, renew, age) * factor_ratio(op->b, renew, age);
    }
    if (const Div *op = factor.as<Div>()) {
        if (is_const_one(op->a)) {
            return factor_ratio(op->b, age, renew);
        }
        return factor_ratio(op->a, renew, age) * factor_ratio(op->b, age, renew);
    }
    const Function f = function_of(factor);
    if (is_exponential(f.name)) {
        return apply(f, {simplify(renew(f.call->args[0]) - age(f.call->args[0]))});
    }
    if (f.name == "pow" && equal(renew(f.call->args[0]), f.call->args[0])) {
        return apply(f, {f.call->args[0], simplify(renew(f.call->args[1]) - age(f.call->args[1]))});
    }
    return renew(factor) / age(factor);
}

}  // namespace fldsl::passes
