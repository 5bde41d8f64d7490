#include "files.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tile_tests {

namespace {

std::string path_of(const std::string &name) {
    return std::string(FLDSL_SOURCE_ROOT) + "/tests/golden/tile/" + name;
}

}  // namespace

std::string read_golden(const std::string &name) {
    std::ifstream file(path_of(name));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

bool matches_golden(const std::string &name, const std::string &text) {
    const char *update = std::getenv("FLDSL_UPDATE_GOLDEN");
    if (update && std::string(update) == "1") {
        std::ofstream(path_of(name)) << text;
    }
    return read_golden(name) == text;
}

}  // namespace tile_tests
