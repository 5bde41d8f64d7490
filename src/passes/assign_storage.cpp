#include "src/passes/assign_storage.h"

#include "src/support/error.h"

#include <algorithm>
#include <sstream>

namespace fldsl::passes {

using namespace Halide::Internal;
using Halide::Expr;
using tile::AxisRole;
using tile::Op;
using tile::OpKind;
using tile::Program;
using tile::Space;

namespace {

struct Row {
    std::string name, shape;
    Space space;
    int64_t bytes;
};

const char *space_name(Space space) {
    switch (space) {
    case Space::InPlace:
        return "in place";
    case Space::Register:
        return "register";
    case Space::Tile:
        return "tile";
    default:
        return "unassigned";
    }
}

class Assigner {
  public:
    explicit Assigner(Program &program) : program_(program) {
    }

    StorageReport run(int64_t budget) {
        for (auto *ops : op_lists()) {
            for (Op &op : *ops) {
                if (op.kind != OpKind::Store) {
                    op.space = space_of(op);
                    account(op.name, op.axes, op.type, op.space);
                }
            }
        }
        for (tile::Stream &s : program_.streams) {
            for (tile::State &state : s.states) {
                state.space = Space::Tile;
                account(state.name, state.axes, state.type, state.space);
            }
        }
        StorageReport report;
        std::stable_sort(rows_.begin(), rows_.end(), [](const Row &a, const Row &b) { return a.bytes > b.bytes; });
        std::ostringstream table;
        for (const Row &r : rows_) {
            table << "  " << r.name << " " << r.shape << " " << space_name(r.space) << " " << r.bytes << "\n";
            report.bytes += r.bytes;
        }
        report.table = table.str();
        FLDSL_USER_CHECK(report.bytes <= budget)
            << program_.name << ": the tiles of a block take " << report.bytes << " bytes, the budget is " << budget
            << "; make the tile or the stream block smaller\n"
            << report.table;
        return report;
    }

  private:
    std::vector<std::vector<Op> *> op_lists() {
        std::vector<std::vector<Op> *> lists{&program_.prologue};
        for (tile::Stream &s : program_.streams) {
            lists.push_back(&s.head);
            lists.push_back(&s.body);
        }
        lists.push_back(&program_.epilogue);
        return lists;
    }

    const tile::Axis &axis(const std::string &name) const {
        for (const tile::Axis &a : program_.axes) {
            if (a.name == name) {
                return a;
            }
        }
        FLDSL_INTERNAL_CHECK(false) << "no axis " << name;
        return program_.axes.front();
    }

    bool has_rows(const Op &op) const {
        return std::any_of(op.axes.begin(), op.axes.end(),
                           [&](const std::string &a) { return axis(a).role == AxisRole::Grid; });
    }

    Space space_of(const Op &op) const {
        if (op.kind == OpKind::Load && !has_rows(op)) {
            const bool narrow = op.type.is_float() && op.type.bits() < 32;
            return narrow && !op.axes.empty() ? Space::Tile : Space::InPlace;
        }
        const bool vector_or_less = op.axes.size() <= (has_rows(op) ? 1 : 0);
        return vector_or_less && op.kind == OpKind::Map ? Space::Register : Space::Tile;
    }

    void account(const std::string &name, const std::vector<std::string> &axes, Halide::Type type, Space space) {
        int64_t elements = 1;
        std::string shape = "[";
        for (const std::string &a : axes) {
            elements *= axis(a).tile;
            shape += (shape.size() > 1 ? ", " : "") + a + "/" + std::to_string(axis(a).tile);
        }
        const int bytes = type.is_float() ? 4 : type.bytes();  // tiles are float32 whatever the tensor's type
        rows_.push_back({name, shape + "]", space, space == Space::Tile ? elements * bytes : 0});
    }

    Program &program_;
    std::vector<Row> rows_;
};

}  // namespace

StorageReport assign_storage(Program &program, int64_t budget) {
    return Assigner(program).run(budget);
}

}  // namespace fldsl::passes
