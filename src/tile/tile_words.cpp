#include "src/tile/tile_text.h"

#include <set>

namespace fldsl::tile {

const char *role_name(AxisRole role) {
    return role == AxisRole::Grid ? "grid" : role == AxisRole::Stream ? "stream" : "whole";
}

const char *use_name(TensorUse use) {
    return use == TensorUse::Input ? "input" : use == TensorUse::Output ? "output" : "workspace";
}

const char *space_name(Space space) {
    switch (space) {
    case Space::Unassigned:
        return "unassigned";
    case Space::InPlace:
        return "in_place";
    case Space::Register:
        return "register";
    case Space::Tile:
        return "tile";
    }
    return "";
}

const char *kind_name(OpKind kind) {
    switch (kind) {
    case OpKind::Load:
        return "load";
    case OpKind::Map:
        return "map";
    case OpKind::Reduce:
        return "reduce";
    case OpKind::Store:
        return "store";
    }
    return "";
}

const char *order_name(GridOrder order) {
    return order == GridOrder::Plain ? "plain" : "longest_first";
}

bool is_keyword(const std::string &name) {
    static const std::set<std::string> words = {"extent", "for",   "from", "in",    "order", "otherwise", "over", "rank",
                                                "shape",  "where", "inf",  "nan",   "true",  "false"};
    return words.count(name) != 0;
}

}  // namespace fldsl::tile
