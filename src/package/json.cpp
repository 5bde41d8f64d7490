#include "src/package/json.h"

#include <cstdio>

namespace fldsl::package {

std::string json_string(const std::string &s) {
    std::string out = "\"";
    for (const char c : s) {
        if (c == '"' || c == '\\') {
            out += std::string("\\") + c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char buffer[8];
            std::snprintf(buffer, sizeof(buffer), "\\u%04x", c);
            out += buffer;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string json_array(const std::vector<std::string> &elements, const std::string &separator) {
    std::string text;
    for (const std::string &e : elements) {
        text += (text.empty() ? "" : separator) + e;
    }
    return "[" + text + "]";
}

}  // namespace fldsl::package
