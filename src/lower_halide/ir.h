// Short hands for the Halide IR that the CPU back end builds: 64-bit addressing through pointers in scalars, no Funcs.
#pragma once

#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace fldsl::lower_halide {

using Halide::Expr;
using Halide::Type;
using Halide::Internal::Stmt;

inline Expr int32(int64_t x) {
    return Halide::Internal::IntImm::make(Halide::Int(32), x);
}
inline Expr int64(int64_t x) {
    return Halide::Internal::IntImm::make(Halide::Int(64), x);
}
inline Expr widen(const Expr &e) {
    return Halide::cast(Halide::Int(64, e.type().lanes()), e);
}
inline Expr variable(const std::string &name, Type t = Halide::Int(32)) {
    return Halide::Internal::Variable::make(t, name);
}
inline Expr pointer(const std::string &name) {
    return variable(name, Halide::type_of<void *>());
}
/// The address `bytes` behind a pointer variable.
inline Expr advance(const std::string &base, const Expr &bytes) {
    const Expr address = Halide::reinterpret(Halide::UInt(64), pointer(base));
    return Halide::reinterpret(Halide::type_of<void *>(), address + Halide::cast(Halide::UInt(64), bytes));
}

inline Expr broadcast(const Expr &e, int lanes) {
    return e.type().lanes() == lanes ? e : Halide::Internal::Broadcast::make(e, lanes);
}
inline Expr ramp(const Expr &base, const Expr &stride, int lanes) {
    return lanes == 1 ? base : Halide::Internal::Ramp::make(base, stride, lanes);
}

/// Elements of type t at the indices (in elements, Int(64), scalar or vector) behind the pointer variable `base`.
inline Expr load(const std::string &base, Type t, const Expr &index) {
    return Halide::Internal::Load::make(t.with_lanes(index.type().lanes()), base, index, Halide::Buffer<>(), Halide::Parameter(),
                                        Halide::Internal::const_true(index.type().lanes()), Halide::Internal::ModulusRemainder());
}
inline Stmt store(const std::string &base, const Expr &value, const Expr &index) {
    const int lanes = index.type().lanes();
    return Halide::Internal::Store::make(base, broadcast(value, lanes), index, Halide::Parameter(),
                                         Halide::Internal::const_true(lanes), Halide::Internal::ModulusRemainder());
}

inline Stmt loop(const std::string &name, const Expr &begin, const Expr &count, const Stmt &body) {
    using namespace Halide::Internal;
    return For::make(name, begin, count, ForType::Serial, Halide::Partition::Never, Halide::DeviceAPI::None, body);
}
inline Stmt if_then(const Expr &condition, const Stmt &then, const Stmt &otherwise = Stmt()) {
    return Halide::Internal::IfThenElse::make(condition, then, otherwise);
}
inline Stmt block(const std::vector<Stmt> &stmts) {
    std::vector<Stmt> defined;
    for (const Stmt &s : stmts) {
        if (s.defined()) {
            defined.push_back(s);
        }
    }
    if (defined.empty()) {
        return Halide::Internal::Evaluate::make(0);
    }
    return Halide::Internal::Block::make(defined);
}

/// Names bound to values, in order, around a statement that is not yet known.
class Lets {
  public:
    void add(const std::string &name, const Expr &value) {
        lets_.emplace_back(name, value);
    }
    Stmt around(Stmt body) const {
        for (auto it = lets_.rbegin(); it != lets_.rend(); ++it) {
            body = Halide::Internal::LetStmt::make(it->first, it->second, body);
        }
        return body;
    }

  private:
    std::vector<std::pair<std::string, Expr>> lets_;
};

}  // namespace fldsl::lower_halide
