#include "src/algorithm/read_algorithm.h"

#include "src/support/error.h"
#include "src/support/primitives.h"

#include <algorithm>
#include <set>

namespace fldsl::algorithm {

using namespace Halide::Internal;

namespace {

/// Halide's unique suffix ("sum$3", "keys$x") is a fact of the process; graphs use the name before it.
std::string base_name(const std::string &name) {
    const size_t dollar = name.find('$');
    return dollar == std::string::npos || dollar == 0 ? name : name.substr(0, dollar);
}

/// Gives every Func of the graph a name of its own that does not depend on what was built before it.
class Names {
  public:
    /// `name` belongs to an argument.
    void reserve(const std::string &name) {
        taken_.insert(name);
    }
    void set(const std::string &func, const std::string &name) {
        names_[func] = name;
        funcs_[name] = func;
    }
    const std::string &func(const std::string &name) const {
        return funcs_.at(name);
    }
    std::string operator()(const std::string &func) {
        auto it = names_.find(func);
        if (it != names_.end()) {
            return it->second;
        }
        std::string name = base_name(func);
        for (int i = 1; taken_.count(name); i++) {
            name = base_name(func) + "_" + std::to_string(i);
        }
        taken_.insert(name);
        set(func, name);
        return name;
    }

  private:
    std::map<std::string, std::string> names_, funcs_;
    std::set<std::string> taken_;
};

/// A Func's expression in the graph's terms: inputs start at 0, primitives have one spelling, nodes their graph names.
class Translate : public IRMutator {
  public:
    Translate(Names &names, std::map<std::string, std::string> axes, std::string func)
        : names_(names), axes_(std::move(axes)), func_(std::move(func)) {
    }
    using IRMutator::mutate;

  private:
    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        if (op->param.defined()) {
            const std::string &n = op->name;
            const size_t at = n.find(".min.");
            if (op->param.is_buffer() && at != std::string::npos) {
                return 0;
            }
            FLDSL_USER_CHECK(!op->param.is_buffer() || n.find(".extent.") != std::string::npos)
                << "Func " << func_ << " reads " << n << ": of a tensor's shape only dim(n).extent() can be read";
            return Variable::make(op->type, n);
        }
        auto it = axes_.find(op->name);
        return Variable::make(op->type, it == axes_.end() ? op->name : it->second);
    }

    Expr visit(const Call *op) override {
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            args.push_back(mutate(a));
        }
        switch (op->call_type) {
        case Call::Halide:
            FLDSL_USER_CHECK(op->value_index == 0) << "Func " << func_ << " reads element " << op->value_index
                                                   << " of the Tuple-valued Func " << op->name;
            return Call::make(op->type, names_(op->name), args, Call::Halide);
        case Call::Image:
            FLDSL_USER_CHECK(op->param.defined())
                << "Func " << func_ << " reads the constant image " << op->name << ": pass it as an Input<Buffer>";
            return Call::make(op->type, op->name, args, Call::Image, FunctionPtr(), 0, Halide::Buffer<>(), op->param);
        default:
            return Call::make(op->type, op->name, args, op->call_type);
        }
    }

    Names &names_;
    std::map<std::string, std::string> axes_;
    std::string func_;
};

/// The two operands of `self op rest` or `rest op self`; undefined when `e` is not of that form.
Expr folded_operand(const Expr &a, const Expr &b, const Expr &self) {
    if (equal(a, self)) {
        return b;
    }
    return equal(b, self) ? a : Expr();
}

bool split_update(const Expr &value, const Expr &self, Combiner *combiner, Expr *body) {
    if (const Add *op = value.as<Add>()) {
        *combiner = Combiner::Sum;
        *body = folded_operand(op->a, op->b, self);
    } else if (const Mul *op = value.as<Mul>()) {
        *combiner = Combiner::Product;
        *body = folded_operand(op->a, op->b, self);
    } else if (const Max *op = value.as<Max>()) {
        *combiner = Combiner::Max;
        *body = folded_operand(op->a, op->b, self);
    } else if (const Min *op = value.as<Min>()) {
        *combiner = Combiner::Min;
        *body = folded_operand(op->a, op->b, self);
    }
    return body->defined();
}

/// Without the lets that Halide shares subexpressions by, and with one spelling of each primitive.
Expr plain(const Expr &e) {
    return canonical_primitives(substitute_in_all_lets(e));
}

class Reader {
  public:
    Reader(const BuiltGenerator &built, RegionGraph &graph) : built_(built), graph_(graph) {
    }

    void read() {
        read_arguments();
        std::vector<Function> outputs;
        for (const TensorArgument &o : graph_.outputs) {
            const Function f = built_.generator->output_func(o.name).at(0).function();
            outputs.push_back(f);
            names_.set(f.name(), o.name);
        }
        env_ = build_environment(outputs);
        for (size_t i = 0; i < outputs.size(); i++) {
            read_func(outputs[i].name(), graph_.outputs[i].name);
        }
        for (const Stmt &s : built_.pipeline.requirements()) {
            read_requirement(s);
        }
    }

  private:
    void read_arguments() {
        for (const auto &info : built_.generator->arginfos()) {
            names_.reserve(info.name);
            if (info.dir == ArgInfoDirection::Output) {
                FLDSL_USER_CHECK(info.kind == ArgInfoKind::Buffer || info.kind == ArgInfoKind::Function)
                    << "output " << info.name << " is a scalar; outputs are buffers";
                FLDSL_USER_CHECK(info.types.size() == 1) << "output " << info.name << " is a Tuple; declare one output each";
                graph_.outputs.push_back({info.name, info.types[0], info.dimensions});
                continue;
            }
            graph_.argument_order.push_back(info.name);
            const std::vector<Halide::Parameter> parameters = built_.generator->input_parameter(info.name);
            FLDSL_USER_CHECK(parameters.size() == 1) << "input " << info.name << " is an array; declare one input each";
            const Halide::Parameter &p = parameters[0];
            if (p.is_buffer()) {
                graph_.inputs.push_back({info.name, p.type(), p.dimensions()});
            } else {
                graph_.scalars.push_back({info.name, p.type()});
            }
        }
    }

    void read_func(const std::string &halide_name, const std::string &graph_name) {
        if (!visited_.insert(halide_name).second) {
            return;
        }
        const Function &f = env_.at(halide_name);
        FLDSL_USER_CHECK(!f.has_extern_definition()) << "Func " << graph_name << " is an extern stage";
        FLDSL_USER_CHECK(f.has_pure_definition()) << "Func " << graph_name << " is never defined";
        FLDSL_USER_CHECK(f.outputs() == 1)
            << "Func " << graph_name << " is Tuple-valued (" << f.outputs()
            << " values), as argmax and argmin are: only single reductions by sum, product, max or min can be read";
        FLDSL_USER_CHECK(f.updates().size() <= 1)
            << "Func " << graph_name << " has " << f.updates().size() << " updates; one can be read: split it into Funcs";

        Node node;
        node.name = graph_name;
        node.type = f.output_types()[0];
        node.parallel = f.args();
        if (f.updates().empty()) {
            Translate translate(names_, {}, graph_name);
            node.body = translate.mutate(plain(f.values()[0]));
        } else {
            read_update(f, node);
        }
        for (const Expr &e : {node.body, node.where}) {
            read_callees(e);
        }
        graph_.nodes.push_back(node);
    }

    void read_update(const Function &f, Node &node) {
        const Definition &update = f.update(0);
        std::map<std::string, std::string> axes;
        for (const ReductionVariable &rv : update.schedule().rvars()) {
            std::string axis = base_name(rv.var);
            while (std::find(node.parallel.begin(), node.parallel.end(), axis) != node.parallel.end() ||
                   std::find(node.reduction.begin(), node.reduction.end(), axis) != node.reduction.end()) {
                axis += "_r";
            }
            axes[rv.var] = axis;
            node.reduction.push_back(axis);
            Translate translate(names_, {}, node.name);
            FLDSL_USER_CHECK(is_const_zero(simplify(translate.mutate(rv.min))))
                << "Func " << node.name << " reduces " << axis << " from " << rv.min << "; domains start at 0";
            graph_.extents[node.name + "." + axis] = simplify(translate.mutate(rv.extent));
        }
        FLDSL_USER_CHECK(!node.reduction.empty())
            << "Func " << node.name << " has an update without a reduction domain";

        std::vector<Expr> args;
        for (size_t i = 0; i < f.args().size(); i++) {
            const Variable *v = update.args()[i].as<Variable>();
            FLDSL_USER_CHECK(v && v->name == f.args()[i])
                << "Func " << node.name << " updates position " << update.args()[i] << " in dimension " << i
                << " (a scan or scatter): only f(" << f.args()[i] << ", ...) op= body can be read";
            args.push_back(update.args()[i]);
        }
        Expr self = Call::make(f.output_types()[0], f.name(), args, Call::Halide);
        // Update values call the Func with its FunctionPtr; compare in a form without it.
        const Expr value = Plain().mutate(plain(update.values()[0]));
        self = Plain().mutate(self);
        Expr body;
        FLDSL_USER_CHECK(split_update(value, self, &node.combiner, &body))
            << "Func " << node.name << " is updated to " << value
            << ": only " << node.name << " op body with op +, *, max or min can be read";
        bool self_reference = false;
        for (const std::string &callee : called_nodes(body)) {
            self_reference |= callee == f.name();
        }
        FLDSL_USER_CHECK(!self_reference) << "Func " << node.name << " reads itself inside the folded body";
        const Expr init = simplify(f.values()[0]);
        FLDSL_USER_CHECK(equal(init, simplify(identity_of(node.combiner, node.type))))
            << "Func " << node.name << " starts from " << init << "; a " << combiner_name(node.combiner)
            << " starts from " << identity_of(node.combiner, node.type);

        Translate translate(names_, axes, node.name);
        node.body = translate.mutate(body);
        const Expr predicate = simplify(update.predicate());
        if (!is_const_one(predicate)) {
            node.where = translate.mutate(plain(predicate));
        }
    }

    /// Calls without their FunctionPtr, so that structural comparison sees names and arguments only.
    class Plain : public IRMutator {
        using IRMutator::visit;
        Expr visit(const Call *op) override {
            std::vector<Expr> args;
            for (const Expr &a : op->args) {
                args.push_back(mutate(a));
            }
            if (op->call_type == Call::Halide) {
                return Call::make(op->type, op->name, args, Call::Halide, FunctionPtr(), op->value_index);
            }
            return Call::make(op->type, op->name, args, op->call_type, op->func, op->value_index, op->image, op->param);
        }
    };

    void read_callees(const Expr &e) {
        for (const std::string &callee : called_nodes(e)) {
            read_func(names_.func(callee), callee);
        }
    }

    void read_requirement(const Stmt &s) {
        const AssertStmt *a = s.as<AssertStmt>();
        FLDSL_INTERNAL_CHECK(a) << "a requirement that is no assertion";
        std::string message;
        struct Texts : IRVisitor {
            using IRVisitor::visit;
            std::string text;
            void visit(const StringImm *op) override {
                text += op->value;
            }
        } texts;
        a->message.accept(&texts);
        while (!texts.text.empty() && texts.text.back() == '\n') {
            texts.text.pop_back();  // Halide ends its messages with a line break
        }
        Translate translate(names_, {}, "requirement");
        graph_.requirements.push_back({simplify(translate.mutate(a->condition)), texts.text});
    }

    const BuiltGenerator &built_;
    RegionGraph &graph_;
    Names names_;
    std::map<std::string, Function> env_;
    std::set<std::string> visited_;
};

}  // namespace

BuiltGenerator build_generator(const std::string &name, const std::map<std::string, std::string> &parameters,
                               const Halide::Target &target) {
    BuiltGenerator built;
    built.generator = GeneratorRegistry::create(name, Halide::GeneratorContext(target));
    if (!built.generator) {
        std::string known;
        for (const std::string &n : GeneratorRegistry::enumerate()) {
            known += (known.empty() ? "" : ", ") + n;
        }
        FLDSL_USER_CHECK(false) << "no generator is called " << name << "; there are: " << known;
    }
    try {
        for (const auto &p : parameters) {
            built.generator->set_generatorparam_value(p.first, p.second);
        }
        built.pipeline = built.generator->build_pipeline();
    } catch (const Halide::Error &e) {
        FLDSL_USER_CHECK(false) << "generator " << name << ": " << e.what();
    }
    built.schedule_key = dynamic_cast<const GeneratorBase *>(built.generator.get());
    return built;
}

RegionGraph read_algorithm(const BuiltGenerator &built, const std::string &name) {
    RegionGraph graph;
    graph.name = name;
    Reader(built, graph).read();
    return graph;
}

}  // namespace fldsl::algorithm
