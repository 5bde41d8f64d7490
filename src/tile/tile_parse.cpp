#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"

#include <map>

namespace fldsl::tile {

namespace {

/// One line, read from the left; parts end at a separator outside brackets.
class Line {
  public:
    Line(const std::string &text, int number) : rest_(text), number_(number) {
    }

    void expect(bool condition, const std::string &what) const {
        FLDSL_USER_CHECK(condition) << "line " << number_ << ": expected " << what << " before `" << rest_ << "`";
    }

    bool empty() const {
        return rest_.empty();
    }

    int number() const {
        return number_;
    }

    bool accept(const std::string &text) {
        if (rest_.compare(0, text.size(), text) != 0) {
            return false;
        }
        rest_.erase(0, text.size());
        return true;
    }

    void take(const std::string &text) {
        expect(accept(text), "`" + text + "`");
    }

    std::string word() {
        size_t n = 0;
        while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' || rest_[n] == '.' ||
                                    rest_[n] == '$')) {
            n++;
        }
        expect(n > 0, "a name");
        return cut(n);
    }

    int integer() {
        const std::string digits = word();
        expect(digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos, "a number, not " + digits);
        return std::stoi(digits);
    }

    /// Everything up to the first of `ends` outside brackets, or the end of the line; the separator stays.
    std::string until(const std::vector<std::string> &ends) {
        int depth = 0;
        for (size_t n = 0; n < rest_.size(); n++) {
            for (const std::string &end : ends) {
                if (depth == 0 && rest_.compare(n, end.size(), end) == 0) {
                    return cut(n);
                }
            }
            depth += rest_[n] == '(' || rest_[n] == '[' ? 1 : rest_[n] == ')' || rest_[n] == ']' ? -1 : 0;
        }
        return cut(rest_.size());
    }

    std::vector<std::string> names() {
        std::vector<std::string> all = {word()};
        while (accept(", ")) {
            all.push_back(word());
        }
        return all;
    }

    Type type() {
        const std::string name = word();
        Type t;
        expect(parse_type(name, &t), "a type, not " + name);
        return t;
    }

    /// The value of `table` that `name_of` calls by the next word.
    template<class T>
    T one_of(std::initializer_list<T> table, const char *(*name_of)(T)) {
        const std::string name = word();
        for (const T t : table) {
            if (name == name_of(t)) {
                return t;
            }
        }
        expect(false, "another word than " + name);
        return *table.begin();
    }

  private:
    std::string cut(size_t n) {
        const std::string text = rest_.substr(0, n);
        rest_.erase(0, n);
        return text;
    }

    std::string rest_;
    int number_;
};

class KernelParser {
  public:
    Kernel parse(const std::string &text) {
        int number = 0;
        for (size_t at = 0; at < text.size(); number++) {
            const size_t end = std::min(text.find('\n', at), text.size());
            const size_t begin = std::min(text.find_first_not_of(" \t", at), end);
            if (begin < end && text[begin] != '#') {
                Line line(text.substr(begin, end - begin), number + 1);
                statement(line);
                line.expect(line.empty(), "the end of the line");
            }
            at = end + 1;
        }
        FLDSL_USER_CHECK(!kernel_.name.empty()) << "line 1: expected `kernel`";
        return kernel_;
    }

  private:
    void statement(Line &line) {
        if (line.accept("kernel ")) {
            kernel_.name = line.word();
        } else if (line.accept("stage ")) {
            kernel_.stages.emplace_back();
            stage().name = line.word();
            types_.clear();
            ops_ = nullptr;
        } else {
            line.expect(!kernel_.stages.empty(), "`stage`");
            in_stage(line);
        }
    }

    void in_stage(Line &line) {
        const std::string keyword = line.word();
        line.accept(" ");
        if (keyword == "input" || keyword == "output" || keyword == "workspace") {
            tensor(line, keyword);
        } else if (keyword == "scalar") {
            const std::string name = line.word();
            line.take(": ");
            stage().scalars.push_back({name, line.type()});
            define(name, stage().scalars.back().type);
        } else if (keyword == "axis") {
            axis(line);
        } else if (keyword == "grid") {
            if (!line.accept("order ")) {
                stage().grid = line.names();
                line.take(" order ");
            }
            stage().order = line.one_of({GridOrder::Plain, GridOrder::LongestFirst}, order_name);
        } else if (keyword == "prologue") {
            ops_ = &stage().prologue;
        } else if (keyword == "epilogue") {
            ops_ = &stage().epilogue;
        } else if (keyword == "stream") {
            stage().streams.emplace_back();
            stream(line).axis = line.word();
            line.take(" in [");
            stream(line).begin = expr(line, {", "});
            line.take(", ");
            stream(line).end = expr(line, {")"});
            line.take(")");
        } else if (keyword == "head") {
            ops_ = &stream(line).head;
        } else if (keyword == "body") {
            ops_ = &stream(line).body;
        } else if (keyword == "live") {
            stream(line).live = expr(line, {});
        } else if (keyword == "full") {
            stream(line).full = expr(line, {});
        } else if (keyword == "state") {
            state(line);
        } else if (keyword == "update") {
            Update u;
            u.state = line.word();
            line.take(" = ");
            u.value = line.word();
            stream(line).updates.push_back(u);
        } else {
            operation(line, keyword);
        }
    }

    void tensor(Line &line, const std::string &keyword) {
        Tensor t;
        for (const TensorUse use : {TensorUse::Input, TensorUse::Output, TensorUse::Workspace}) {
            t.use = keyword == use_name(use) ? use : t.use;
        }
        t.name = line.word();
        line.take(": ");
        t.type = line.type();
        if (t.use == TensorUse::Workspace) {
            line.take(" shape ");
            t.extents = exprs(line);
            t.rank = static_cast<int>(t.extents.size());
        } else {
            line.take(" rank ");
            t.rank = line.integer();
        }
        stage().tensors.push_back(t);
        tensors_[t.name] = t;
    }

    void axis(Line &line) {
        Axis a;
        a.name = line.word();
        line.take(": ");
        a.role = line.one_of({AxisRole::Grid, AxisRole::Stream, AxisRole::Whole}, role_name);
        line.take(" ");
        a.tile = line.integer();
        line.take(" extent ");
        a.extent = expr(line, {});
        stage().axes.push_back(a);
        for (const char *suffix : {"", ".lo", ".hi"}) {
            define(a.name + suffix, Halide::Int(32));
        }
    }

    void state(Line &line) {
        State s;
        s.name = line.word();
        s.axes = optional_axes(line);
        s.type = optional_type(line);
        s.space = optional_space(line);
        line.take(" = ");
        s.identity = expr(line, {});
        stream(line).states.push_back(s);
        define(s.name, s.type);
    }

    void operation(Line &line, const std::string &keyword) {
        Op op;
        bool known = false;
        for (const OpKind kind : {OpKind::Load, OpKind::Map, OpKind::Reduce, OpKind::Store}) {
            known = known || keyword == kind_name(kind);
            op.kind = keyword == kind_name(kind) ? kind : op.kind;
        }
        line.expect(known, "another word than " + keyword);
        line.expect(ops_, "`prologue`, `head`, `body` or `epilogue` above an operation");
        op.name = line.word();
        if (op.kind == OpKind::Store) {
            op.index = exprs(line);
            op.type = optional_type(line);
            op.axes = line.accept(" for ") ? line.names() : op.axes;
        } else {
            op.axes = optional_axes(line);
            op.type = optional_type(line);
        }
        op.space = optional_space(line);
        line.take(" = ");
        if (op.kind == OpKind::Reduce) {
            const std::string combiner = line.word();
            line.expect(parse_combiner(combiner, &op.combiner), "sum, product, max or min, not " + combiner);
            line.take(" over ");
            op.over = line.names();
            line.take(": ");
        }
        const std::vector<std::string> ends = {" from ", " where ", " otherwise "};
        op.value = expr(line, ends);
        op.init = line.accept(" from ") ? expr(line, ends) : op.init;
        op.where = line.accept(" where ") ? expr(line, ends) : op.where;
        op.otherwise = line.accept(" otherwise ") ? expr(line, ends) : op.otherwise;
        if (op.kind != OpKind::Store) {
            define(op.name, op.type);
        }
        ops_->push_back(op);
    }

    std::vector<std::string> optional_axes(Line &line) {
        if (!line.accept("[")) {
            return {};
        }
        const std::vector<std::string> axes = line.names();
        line.take("]");
        return axes;
    }

    Type optional_type(Line &line) {
        return line.accept(": ") ? line.type() : Halide::Float(32);
    }

    Space optional_space(Line &line) {
        return line.accept(" @") ? line.one_of({Space::InPlace, Space::Register, Space::Tile}, space_name) : Space::Unassigned;
    }

    std::vector<Expr> exprs(Line &line) {
        std::vector<Expr> all;
        line.take("[");
        if (!line.accept("]")) {
            do {
                all.push_back(expr(line, {", ", "]"}));
            } while (line.accept(", "));
            line.take("]");
        }
        return all;
    }

    Expr expr(Line &line, const std::vector<std::string> &ends) {
        const std::string text = line.until(ends);
        try {
            return parse_expr(text, [this](const std::string &name, Symbol *symbol) { return look_up(name, symbol); });
        } catch (const UserError &e) {
            FLDSL_USER_CHECK(false) << "line " << line.number() << ": " << e.what();
        }
        return Expr();
    }

    bool look_up(const std::string &name, Symbol *symbol) {
        const auto value = types_.find(name);
        if (value != types_.end()) {
            *symbol = {value->second, Symbol::Scalar};
            return true;
        }
        const auto tensor = tensors_.find(name);
        if (tensor != tensors_.end()) {
            *symbol = {tensor->second.type, Symbol::Tensor};
            return true;
        }
        const size_t extent = name.find(".extent.");
        *symbol = {Halide::Int(32), Symbol::Scalar};
        return extent != std::string::npos && tensors_.count(name.substr(0, extent)) != 0;
    }

    void define(const std::string &name, Type type) {
        types_[name] = type;
    }

    Program &stage() {
        return kernel_.stages.back();
    }

    Stream &stream(const Line &line) {
        line.expect(!stage().streams.empty(), "`stream` first");
        return stage().streams.back();
    }

    Kernel kernel_;
    std::map<std::string, Type> types_;
    std::map<std::string, Tensor> tensors_;  ///< of all stages: workspace shapes may speak of tensors of others
    std::vector<Op> *ops_ = nullptr;
};

}  // namespace

Kernel parse_kernel(const std::string &text) {
    return KernelParser().parse(text);
}

}  // namespace fldsl::tile
