#include "src/passes/schedule.h"

#include "src/algorithm/unify_axes.h"
#include "src/support/error.h"

#include <algorithm>
#include <set>

namespace fldsl::passes {

using namespace algorithm;
using tile::AxisRole;

namespace {

const char *role_name(AxisRole role) {
    return role == AxisRole::Grid ? "tile" : role == AxisRole::Stream ? "stream" : "whole";
}

bool is_reduced(const RegionGraph &graph, const std::string &axis) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node &n) {
        return std::find(n.reduction.begin(), n.reduction.end(), axis) != n.reduction.end();
    });
}

class Reader {
  public:
    explicit Reader(const RegionGraph &graph) : graph_(graph) {
    }

    Schedule read(const std::vector<Directive> &directives) {
        for (const Directive &d : directives) {
            append_text(d);
            apply(d);
        }
        finish();
        return schedule_;
    }

  private:
    void append_text(const Directive &d) {
        std::string args = d.axis.substr(0, d.axis.find('$'));
        if (d.name == "order") {
            args = d.value == LongestFirst ? "LongestFirst" : "Plain";
        } else if (d.name != "online") {
            args += ", " + std::to_string(d.value);
        }
        schedule_.text += (schedule_.text.empty() ? "" : ".") + d.name + "(" + args + ")";
    }

    void apply(const Directive &d) {
        if (d.name == "online") {
            schedule_.online = true;
            return;
        }
        if (d.name == "order") {
            schedule_.order = d.value == LongestFirst ? tile::GridOrder::LongestFirst : tile::GridOrder::Plain;
            return;
        }
        const std::string axis = axis_of_alias(graph_, d.axis).name;
        FLDSL_USER_CHECK(d.value >= 1) << d.name << "(" << axis << ", " << d.value << "): the number must be at least 1";
        if (d.name == "split") {
            FLDSL_USER_CHECK(schedule_.split_axis.empty()) << "split is stated twice";
            schedule_.split_axis = axis;
            schedule_.split_parts = d.value;
        } else if (d.name == "tile") {
            FLDSL_USER_CHECK(!is_reduced(graph_, axis))
                << "tile(" << axis << "): " << axis << " is folded by a reduction; stream(" << axis << ", n) or whole(" << axis
                << ", n) is what it can have";
            set(axis, AxisRole::Grid, d.value);
        } else if (d.name == "stream") {
            set(axis, AxisRole::Stream, d.value);
            schedule_.streams.push_back(axis);
        } else if (d.name == "whole") {
            set(axis, AxisRole::Whole, d.value);
        } else {
            FLDSL_INTERNAL_CHECK(false) << "directive " << d.name;
        }
    }

    void set(const std::string &axis, AxisRole role, int tile) {
        const auto inserted = schedule_.axes.emplace(axis, AxisPlan{role, tile});
        FLDSL_USER_CHECK(inserted.second) << role_name(role) << "(" << axis << ", " << tile << "): " << axis << " already has "
                                          << role_name(inserted.first->second.role) << "(" << axis << ", "
                                          << inserted.first->second.tile << ")";
    }

    void finish() {
        for (const Axis &a : graph_.axes) {
            if (schedule_.axes.count(a.name)) {
                continue;
            }
            FLDSL_USER_CHECK(!is_reduced(graph_, a.name))
                << "axis " << a.name << " is folded by a reduction and the schedule does not say how: whole(" << a.name
                << ", largest extent) keeps all of it in a block, stream(" << a.name << ", n) walks it";
            schedule_.axes[a.name] = AxisPlan{};
        }
        FLDSL_USER_CHECK(schedule_.split_axis.empty() ||
                         std::find(schedule_.streams.begin(), schedule_.streams.end(), schedule_.split_axis) !=
                             schedule_.streams.end())
            << "split(" << schedule_.split_axis << "): only a streamed axis can be split; state stream("
            << schedule_.split_axis << ", n) first";
    }

    const RegionGraph &graph_;
    Schedule schedule_;
};

}  // namespace

Schedule read_schedule(const RegionGraph &graph, const std::vector<Directive> &directives) {
    return Reader(graph).read(directives);
}

}  // namespace fldsl::passes
