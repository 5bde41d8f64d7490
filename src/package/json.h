// Writes JSON: objects and arrays in the order in which members are added.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace fldsl::package {

std::string json_string(const std::string &s);

/// Members are given as JSON text; use json_string for strings.
class JsonObject {
  public:
    JsonObject &add(const std::string &name, const std::string &json) {
        text_ += (text_.empty() ? "" : ", ") + json_string(name) + ": " + json;
        return *this;
    }
    JsonObject &add(const std::string &name, int64_t number) {
        return add(name, std::to_string(number));
    }
    std::string text() const {
        return "{" + text_ + "}";
    }

  private:
    std::string text_;
};

/// With `separator` between elements, "," or ",\n".
std::string json_array(const std::vector<std::string> &elements, const std::string &separator = ", ");

}  // namespace fldsl::package
