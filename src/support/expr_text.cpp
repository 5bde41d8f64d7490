#include "src/support/expr_text.h"

#include "src/support/error.h"
#include "src/support/primitives.h"

#include <charconv>
#include <cmath>

namespace fldsl {

using namespace Halide::Internal;
using Halide::Expr;
using Halide::Type;

namespace {

struct TypeName {
    const char *name;
    Type type;
};

const std::vector<TypeName> &type_names() {
    static const std::vector<TypeName> table = {
        {"float16", Halide::Float(16)}, {"float32", Halide::Float(32)}, {"float64", Halide::Float(64)},
        {"bfloat16", Halide::BFloat(16)}, {"int8", Halide::Int(8)}, {"int16", Halide::Int(16)}, {"int32", Halide::Int(32)},
        {"int64", Halide::Int(64)}, {"uint8", Halide::UInt(8)}, {"uint16", Halide::UInt(16)}, {"uint32", Halide::UInt(32)},
        {"uint64", Halide::UInt(64)}, {"bool", Halide::Bool()}};
    return table;
}

std::string float_text(double value, bool single) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    char buffer[64];
    const auto end = single ? std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(value)).ptr
                            : std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
    std::string text(buffer, end);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

enum Precedence { Lowest, OrLevel, AndLevel, CompareLevel, SumLevel, ProductLevel, UnaryLevel, Atom };

class Printer {
  public:
    std::string print(const Expr &e, int context) {
        level_ = Atom;
        const std::string text = node(e);
        return level_ < context ? "(" + text + ")" : text;
    }

  private:
    template<class Op>
    bool infix(const Expr &e, const char *symbol, Precedence level, std::string *text, bool chain) {
        const Op *op = e.as<Op>();
        if (!op) {
            return false;
        }
        // Left to right: the right operand of an equal operator keeps its parentheses, so structure survives.
        const std::string a = print(op->a, chain ? level : level + 1);
        const std::string b = print(op->b, level + 1);
        level_ = level;
        *text = a + " " + symbol + " " + b;
        return true;
    }

    std::string list(const std::vector<Expr> &args) {
        std::string text;
        for (const Expr &a : args) {
            text += (text.empty() ? "" : ", ") + print(a, Lowest);
        }
        level_ = Atom;
        return text;
    }

    std::string typed(const std::string &literal, Type type, Type plain) {
        return type == plain ? literal : type_name(type) + "(" + literal + ")";
    }

    std::string node(const Expr &e) {
        if (const Variable *op = e.as<Variable>()) {
            return op->name;
        }
        if (const IntImm *op = e.as<IntImm>()) {
            return typed(std::to_string(op->value), op->type, Halide::Int(32));
        }
        if (const UIntImm *op = e.as<UIntImm>()) {
            return op->type.is_bool() ? (op->value ? "true" : "false") : typed(std::to_string(op->value), op->type, Type());
        }
        if (const FloatImm *op = e.as<FloatImm>()) {
            return typed(float_text(op->value, op->type.bits() <= 32), op->type, Halide::Float(32));
        }
        if (const Cast *op = e.as<Cast>()) {
            return type_name(op->type) + "(" + list({op->value}) + ")";
        }
        if (const Select *op = e.as<Select>()) {
            return "select(" + list({op->condition, op->true_value, op->false_value}) + ")";
        }
        if (const Min *op = e.as<Min>()) {
            return "min(" + list({op->a, op->b}) + ")";
        }
        if (const Max *op = e.as<Max>()) {
            return "max(" + list({op->a, op->b}) + ")";
        }
        if (const Not *op = e.as<Not>()) {
            const std::string text = "!" + print(op->a, UnaryLevel);
            level_ = UnaryLevel;
            return text;
        }
        if (const Call *op = e.as<Call>()) {
            const std::string primitive = primitive_name(op);
            const std::string args = list(op->args);
            return op->call_type == Call::Image ? op->name + "[" + args + "]"
                                                : (primitive.empty() ? op->name : primitive) + "(" + args + ")";
        }
        std::string text;
        if (infix<Add>(e, "+", SumLevel, &text, true) || infix<Sub>(e, "-", SumLevel, &text, true) ||
            infix<Mul>(e, "*", ProductLevel, &text, true) || infix<Div>(e, "/", ProductLevel, &text, true) ||
            infix<Mod>(e, "%", ProductLevel, &text, true) || infix<And>(e, "&&", AndLevel, &text, true) ||
            infix<Or>(e, "||", OrLevel, &text, true) || infix<EQ>(e, "==", CompareLevel, &text, false) ||
            infix<NE>(e, "!=", CompareLevel, &text, false) || infix<LT>(e, "<", CompareLevel, &text, false) ||
            infix<LE>(e, "<=", CompareLevel, &text, false) || infix<GT>(e, ">", CompareLevel, &text, false) ||
            infix<GE>(e, ">=", CompareLevel, &text, false)) {
            return text;
        }
        std::ostringstream other;  // no tile program holds anything else; messages may
        other << e;
        return other.str();
    }

    int level_ = Atom;
};

}  // namespace

std::string type_name(Type type) {
    for (const TypeName &t : type_names()) {
        if (t.type == type) {
            return t.name;
        }
    }
    std::ostringstream other;
    other << type;
    return other.str();
}

bool parse_type(const std::string &name, Type *type) {
    for (const TypeName &t : type_names()) {
        if (name == t.name) {
            *type = t.type;
            return true;
        }
    }
    return false;
}

std::string expr_to_text(const Expr &e) {
    return e.defined() ? Printer().print(e, Lowest) : "";
}

Expr make_element(Type type, const std::string &name, const std::vector<Expr> &index) {
    const Halide::Parameter tensor(type, true, static_cast<int>(index.size()), name);
    return Call::make(type, name, index, Call::Image, FunctionPtr(), 0, Halide::Buffer<>(), tensor);
}

}  // namespace fldsl
