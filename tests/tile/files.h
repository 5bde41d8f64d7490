// Golden files of this suite, in tests/golden/tile.
#pragma once

#include <string>

namespace tile_tests {

std::string read_golden(const std::string &name);

/// Compares with the golden file `name`; FLDSL_UPDATE_GOLDEN=1 writes it instead.
bool matches_golden(const std::string &name, const std::string &text);

}  // namespace tile_tests
