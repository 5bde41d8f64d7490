#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/support/primitives.h"

#include <cctype>
#include <cstdlib>
#include <limits>

namespace fldsl {

using namespace Halide::Internal;
using Halide::Expr;
using Halide::Type;

namespace {

bool is_name_start(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

/// `int64(5)` and `float16(0.5)` are literals; `float32(5)` converts one.
bool is_typed_literal(const Expr &e, Type type) {
    return (e.as<IntImm>() && type.is_int_or_uint() && !type.is_bool()) || (e.as<FloatImm>() && type.is_float());
}

/// Recursive descent, one function a level of precedence; nodes are made as written, nothing is folded.
class Parser {
  public:
    Parser(const std::string &text, const SymbolTable &symbols) : text_(text), symbols_(symbols) {
    }

    Expr parse() {
        const Expr e = disjunction();
        skip_space();
        expect(at_ == text_.size(), "the end");
        return e;
    }

  private:
    void skip_space() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            at_++;
        }
    }

    void expect(bool condition, const std::string &what) const {
        FLDSL_USER_CHECK(condition) << "column " << at_ + 1 << " of `" << text_ << "`: expected " << what;
    }

    bool accept(const std::string &symbol) {
        skip_space();
        if (text_.compare(at_, symbol.size(), symbol) != 0) {
            return false;
        }
        at_ += symbol.size();
        return true;
    }

    std::string name() {
        skip_space();
        const size_t begin = at_;
        if (at_ < text_.size() && is_name_start(text_[at_])) {
            while (at_ < text_.size() && is_name_part(text_[at_])) {
                at_++;
            }
        }
        expect(at_ > begin, "a name");
        return text_.substr(begin, at_ - begin);
    }

    void same_type(const Expr &a, const Expr &b) const {
        expect(a.type() == b.type(), "operands of one type, not " + type_name(a.type()) + " and " + type_name(b.type()));
    }

    Expr disjunction() {
        Expr e = conjunction();
        while (accept("||")) {
            const Expr b = conjunction();
            same_type(e, b);
            e = Or::make(e, b);
        }
        return e;
    }

    Expr conjunction() {
        Expr e = comparison();
        while (accept("&&")) {
            const Expr b = comparison();
            same_type(e, b);
            e = And::make(e, b);
        }
        return e;
    }

    Expr comparison() {
        const Expr a = sum();
        for (const char *symbol : {"==", "!=", "<=", ">=", "<", ">"}) {
            if (accept(symbol)) {
                const Expr b = sum();
                same_type(a, b);
                const std::string s = symbol;
                return s == "==" ? EQ::make(a, b)
                       : s == "!=" ? NE::make(a, b)
                       : s == "<=" ? LE::make(a, b)
                       : s == ">=" ? GE::make(a, b)
                       : s == "<"  ? LT::make(a, b)
                                   : GT::make(a, b);
            }
        }
        return a;
    }

    Expr sum() {
        Expr e = product();
        while (true) {
            const bool plus = accept("+");
            if (!plus && !accept("-")) {
                return e;
            }
            const Expr b = product();
            same_type(e, b);
            e = plus ? Add::make(e, b) : Sub::make(e, b);
        }
    }

    Expr product() {
        Expr e = unary();
        while (true) {
            const char op = accept("*") ? '*' : accept("/") ? '/' : accept("%") ? '%' : 0;
            if (!op) {
                return e;
            }
            const Expr b = unary();
            same_type(e, b);
            e = op == '*' ? Mul::make(e, b) : op == '/' ? Div::make(e, b) : Mod::make(e, b);
        }
    }

    Expr unary() {
        skip_space();
        if (at_ + 1 < text_.size() && text_[at_] == '!' && text_[at_ + 1] != '=') {
            at_++;
            return Not::make(unary());
        }
        return atom();
    }

    Expr atom() {
        skip_space();
        expect(at_ < text_.size(), "an expression");
        const char c = text_[at_];
        if (accept("(")) {
            const Expr e = disjunction();
            expect(accept(")"), "`)`");
            return e;
        }
        if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) {
            return number();
        }
        const std::string n = name();
        if (n == "true" || n == "false") {
            return make_bool(n == "true");
        }
        if (n == "inf" || n == "nan") {
            const double inf = std::numeric_limits<double>::infinity();
            return FloatImm::make(Halide::Float(32), n == "inf" ? inf : std::numeric_limits<double>::quiet_NaN());
        }
        Type type;
        if (parse_type(n, &type) && accept("(")) {
            const std::vector<Expr> args = arguments(")");
            expect(args.size() == 1, "one operand of " + n);
            return is_typed_literal(args[0], type) ? Halide::cast(type, args[0]) : Cast::make(type, args[0]);
        }
        return named(n);
    }

    Expr number() {
        const size_t begin = at_;
        const bool negative = accept("-");
        if (negative && accept("inf")) {
            return FloatImm::make(Halide::Float(32), -std::numeric_limits<double>::infinity());
        }
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
                                      ((text_[at_] == '-' || text_[at_] == '+') && text_[at_ - 1] == 'e'))) {
            at_++;
        }
        const std::string digits = text_.substr(begin, at_ - begin);
        expect(digits.find_first_of("0123456789") != std::string::npos, "a number");
        char *end = nullptr;
        if (digits.find_first_of(".e") != std::string::npos) {
            const double value = std::strtod(digits.c_str(), &end);
            expect(*end == 0, "a number, not " + digits);
            return FloatImm::make(Halide::Float(32), value);
        }
        const int64_t value = std::strtoll(digits.c_str(), &end, 10);
        expect(*end == 0, "a number, not " + digits);
        const bool small = value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
        return IntImm::make(small ? Halide::Int(32) : Halide::Int(64), value);
    }

    std::vector<Expr> arguments(const std::string &close) {
        std::vector<Expr> args;
        if (accept(close)) {
            return args;
        }
        do {
            args.push_back(disjunction());
        } while (accept(","));
        expect(accept(close), "`" + close + "` or `,`");
        return args;
    }

    Expr named(const std::string &n) {
        skip_space();
        if (accept("(")) {
            const std::vector<Expr> args = arguments(")");
            if (n == "select" && args.size() == 3) {
                same_type(args[1], args[2]);
                return Select::make(args[0], args[1], args[2]);
            }
            if ((n == "min" || n == "max") && args.size() == 2) {
                same_type(args[0], args[1]);
                return n == "min" ? Min::make(args[0], args[1]) : Max::make(args[0], args[1]);
            }
            if (const Primitive *p = find_primitive(n)) {
                expect(static_cast<int>(args.size()) == p->arity, std::to_string(p->arity) + " operands of " + n);
                return make_primitive(n, args);
            }
            Symbol s;
            expect(symbols_(n, &s) && s.kind == Symbol::Node, "a function, not " + n);
            return Call::make(s.type, n, args, Call::Halide);
        }
        Symbol s;
        expect(symbols_(n, &s), "a known name, not " + n);
        if (accept("[")) {
            expect(s.kind == Symbol::Tensor, "a tensor before `[`, not " + n);
            const std::vector<Expr> index = arguments("]");
            for (const Expr &e : index) {
                expect(e.type() == Halide::Int(32), "int32 indices of " + n + ", not " + type_name(e.type()));
            }
            return make_element(s.type, n, index);
        }
        return Variable::make(s.type, n);
    }

    const std::string &text_;
    const SymbolTable &symbols_;
    size_t at_ = 0;
};

}  // namespace

Expr parse_expr(const std::string &text, const SymbolTable &symbols) {
    return Parser(text, symbols).parse();
}

}  // namespace fldsl
