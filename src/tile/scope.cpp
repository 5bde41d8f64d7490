#include "src/tile/scope.h"

#include "src/support/expr_text.h"
#include "src/support/primitives.h"
#include "src/tile/tile_text.h"

#include <algorithm>

namespace fldsl::tile {

using namespace Halide::Internal;

namespace {

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Looks for the first fault in an expression.
class FindFault : public IRVisitor {
  public:
    FindFault(const Scope &scope, const Program &program, const std::vector<std::string> &axes)
        : scope_(scope), program_(program), axes_(axes) {
    }

    std::string fault;

  private:
    using IRVisitor::visit;

    void report(const std::string &what) {
        fault = fault.empty() ? what : fault;
    }

    void expect_type(const std::string &name, Type is, Type should_be) {
        if (is != should_be) {
            report(name + " is used as " + type_name(is) + ", it is " + type_name(should_be));
        }
    }

    bool available(const std::string &axis) const {
        const Axis *a = scope_.axis(axis);
        return (a && a->role == AxisRole::Grid && a->tile == 1) || std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
    }

    void visit(const Variable *op) override {
        const std::string &n = op->name;
        if (const Definition *d = scope_.find(n)) {
            expect_type(n, op->type, d->type);
            for (const std::string &axis : d->axes) {
                if (!available(axis)) {
                    report("reads " + n + ", which has axis " + axis + " that the operation lacks");
                }
            }
        } else if (scope_.axis(n)) {
            expect_type(n, op->type, Halide::Int(32));
            if (!available(n)) {
                report("reads axis " + n + ", which the operation lacks");
            }
        } else if (!global(op)) {
            report("reads " + n + ", which is not defined here");
        }
    }

    /// A scalar, an extent, or an end of an axis's current range.
    bool global(const Variable *op) {
        for (const Scalar &s : program_.scalars) {
            if (s.name == op->name) {
                expect_type(s.name, op->type, s.type);
                return true;
            }
        }
        const bool known = is_extent(op->name) || is_end(op->name);
        if (known) {
            expect_type(op->name, op->type, Halide::Int(32));
        }
        return known;
    }

    bool is_extent(const std::string &name) const {
        for (const Tensor &t : program_.tensors) {
            for (int d = 0; d < t.rank; d++) {
                if (name == t.name + ".extent." + std::to_string(d)) {
                    return true;
                }
            }
        }
        return false;
    }

    bool is_end(const std::string &name) const {
        if (!ends_with(name, ".lo") && !ends_with(name, ".hi")) {
            return false;
        }
        const std::string axis = name.substr(0, name.size() - 3);
        return scope_.axis(axis) && scope_.has_range(axis);
    }

    void visit(const Call *op) override {
        IRVisitor::visit(op);
        if (op->call_type == Call::Image) {
            element(op);
            return;
        }
        const std::string name = primitive_name(op);
        const Primitive *p = name.empty() ? nullptr : find_primitive(name);
        if (!p) {
            report("calls " + op->name + ", which is no primitive");
        } else if (static_cast<int>(op->args.size()) != p->arity) {
            report("calls " + name + " with " + std::to_string(op->args.size()) + " arguments");
        } else {
            expect_type(name, op->type, p->predicate ? Halide::Bool() : Halide::Float(32));
            for (const Expr &a : op->args) {
                expect_type("an argument of " + name, a.type(), Halide::Float(32));
            }
        }
    }

    void element(const Call *op) {
        const Tensor *t = scope_.tensor(op->name);
        if (!t || t->use == TensorUse::Output) {
            report("reads an element of " + op->name + ", which is no input or workspace tensor");
            return;
        }
        expect_type(op->name, op->type, t->type);
        if (static_cast<int>(op->args.size()) != t->rank) {
            report("reads " + op->name + " with " + std::to_string(op->args.size()) + " indices, it has rank " +
                   std::to_string(t->rank));
        }
        for (const Expr &a : op->args) {
            expect_type("an index of " + op->name, a.type(), Halide::Int(32));
        }
    }

    void visit(const Load *) override {
        report("holds a Halide load");
    }
    void visit(const Ramp *) override {
        report("holds a vector");
    }
    void visit(const Broadcast *) override {
        report("holds a vector");
    }
    void visit(const Let *) override {
        report("holds a let");
    }
    void visit(const Reinterpret *) override {
        report("holds a reinterpretation");
    }

    const Scope &scope_;
    const Program &program_;
    const std::vector<std::string> &axes_;
};

}  // namespace

Scope::Scope(const Program &program) : program_(program) {
    for (const Axis &a : program.axes) {
        taken_.insert({a.name, a.name + ".lo", a.name + ".hi"});
    }
    for (const Tensor &t : program.tensors) {
        taken_.insert(t.name);
        for (int d = 0; d < t.rank; d++) {
            taken_.insert(t.name + ".extent." + std::to_string(d));
        }
    }
    for (const Scalar &s : program.scalars) {
        taken_.insert(s.name);
    }
}

const Axis *Scope::axis(const std::string &name) const {
    for (const Axis &a : program_.axes) {
        if (a.name == name) {
            return &a;
        }
    }
    return nullptr;
}

const Tensor *Scope::tensor(const std::string &name) const {
    for (const Tensor &t : program_.tensors) {
        if (t.name == name) {
            return &t;
        }
    }
    return nullptr;
}

bool Scope::define(const std::string &name, const Definition &definition) {
    readable_[name] = definition;
    return taken_.insert(name).second;
}

const Definition *Scope::find(const std::string &name) const {
    const auto at = readable_.find(name);
    return at == readable_.end() ? nullptr : &at->second;
}

void Scope::forget(const std::string &name) {
    readable_.erase(name);
}

void Scope::enter_stream(const std::string &axis) {
    stream_ = axis;
}

void Scope::leave_stream() {
    stream_.clear();
}

bool Scope::has_range(const std::string &name) const {
    const Axis *a = axis(name);
    return a && (a->role != AxisRole::Stream || name == stream_);
}

std::string Scope::fault_of(const Expr &e, const std::vector<std::string> &axes) const {
    FindFault find(*this, program_, axes);
    e.accept(&find);
    return find.fault;
}

}  // namespace fldsl::tile
