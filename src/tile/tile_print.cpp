#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"

namespace fldsl::tile {

namespace {

std::string list(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &n : names) {
        text += (text.empty() ? "" : ", ") + n;
    }
    return text;
}

std::string list(const std::vector<Expr> &exprs) {
    std::vector<std::string> texts;
    for (const Expr &e : exprs) {
        texts.push_back(expr_to_text(e));
    }
    return list(texts);
}

std::string type_suffix(Type type) {
    return type == Halide::Float(32) ? "" : ": " + type_name(type);
}

std::string space_suffix(Space space) {
    return space == Space::Unassigned ? "" : std::string(" @") + space_name(space);
}

std::string axes_suffix(const std::vector<std::string> &axes) {
    return axes.empty() ? "" : "[" + list(axes) + "]";
}

std::string clause(const std::string &keyword, const Expr &e) {
    return e.defined() ? " " + keyword + " " + expr_to_text(e) : "";
}

std::string lines(const std::string &indent, const std::string &title, const std::vector<Op> &ops) {
    std::string text = ops.empty() ? "" : indent + title + "\n";
    for (const Op &op : ops) {
        text += indent + "  " + to_text(op) + "\n";
    }
    return text;
}

std::string stream_text(const Stream &s) {
    const std::string indent = "    ";
    std::string text = "  stream " + s.axis + " in [" + expr_to_text(s.begin) + ", " + expr_to_text(s.end) + ")\n";
    text += lines(indent, "head", s.head);
    text += s.live.defined() ? indent + "live " + expr_to_text(s.live) + "\n" : "";
    text += s.full.defined() ? indent + "full " + expr_to_text(s.full) + "\n" : "";
    for (const State &state : s.states) {
        text += indent + "state " + state.name + axes_suffix(state.axes) + type_suffix(state.type) +
                space_suffix(state.space) + " = " + expr_to_text(state.identity) + "\n";
    }
    text += lines(indent, "body", s.body);
    for (const Update &u : s.updates) {
        text += indent + "update " + u.state + " = " + u.value + "\n";
    }
    return text;
}

}  // namespace

std::string to_text(const Op &op) {
    std::string text = std::string(kind_name(op.kind)) + " " + op.name;
    if (op.kind == OpKind::Store) {
        text += "[" + list(op.index) + "]" + type_suffix(op.type) + (op.axes.empty() ? "" : " for " + list(op.axes));
    } else {
        text += axes_suffix(op.axes) + type_suffix(op.type);
    }
    text += space_suffix(op.space) + " = ";
    if (op.kind == OpKind::Reduce) {
        text += std::string(combiner_name(op.combiner)) + " over " + list(op.over) + ": ";
    }
    return text + expr_to_text(op.value) + clause("from", op.init) + clause("where", op.where) +
           clause("otherwise", op.otherwise);
}

std::string to_text(const Program &program) {
    std::string text = "stage " + program.name + "\n";
    for (const Tensor &t : program.tensors) {
        text += std::string("  ") + use_name(t.use) + " " + t.name + ": " + type_name(t.type);
        text += t.use == TensorUse::Workspace ? " shape [" + list(t.extents) + "]\n" : " rank " + std::to_string(t.rank) + "\n";
    }
    for (const Scalar &s : program.scalars) {
        text += "  scalar " + s.name + ": " + type_name(s.type) + "\n";
    }
    for (const Axis &a : program.axes) {
        text += "  axis " + a.name + ": " + role_name(a.role) + " " + std::to_string(a.tile) + " extent " +
                expr_to_text(a.extent) + "\n";
    }
    text += "  grid " + list(program.grid) + " order " + order_name(program.order) + "\n";
    text += lines("  ", "prologue", program.prologue);
    for (const Stream &s : program.streams) {
        text += stream_text(s);
    }
    return text + lines("  ", "epilogue", program.epilogue);
}

std::string to_text(const Kernel &kernel) {
    std::string text = "kernel " + kernel.name + "\n";
    for (const Program &p : kernel.stages) {
        text += "\n" + to_text(p);
    }
    return text;
}

}  // namespace fldsl::tile
