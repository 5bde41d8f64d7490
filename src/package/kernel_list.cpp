#include "src/package/kernel_list.h"

#include "src/support/error.h"

#include <cctype>
#include <set>

namespace fldsl::package {

namespace {

bool is_identifier(const std::string &s) {
    for (const char c : s) {
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') {
            return false;
        }
    }
    return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0]));
}

}  // namespace

std::vector<KernelEntry> parse_kernel_list(const std::string &text, const std::string &source) {
    std::vector<KernelEntry> entries;
    std::set<std::string> names;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); number++) {
        std::istringstream words(line);
        KernelEntry e;
        if (!(words >> e.name) || e.name[0] == '#') {
            continue;
        }
        const std::string where = source + ":" + std::to_string(number) + ": ";
        FLDSL_USER_CHECK(is_identifier(e.name)) << where << e.name << " is no C identifier, which a kernel's name must be";
        FLDSL_USER_CHECK(names.insert(e.name).second) << where << "kernel " << e.name << " is listed twice";
        FLDSL_USER_CHECK(words >> e.generator) << where << "kernel " << e.name << " names no generator";
        std::map<std::string, std::string> *to = &e.parameters;
        std::string word;
        while (words >> word) {
            if (word == "|") {
                to = &e.features;
                continue;
            }
            const size_t equals = word.find('=');
            FLDSL_USER_CHECK(equals != std::string::npos && equals > 0) << where << word << " is not of the form name=value";
            (*to)[word.substr(0, equals)] = word.substr(equals + 1);
        }
        entries.push_back(std::move(e));
    }
    FLDSL_USER_CHECK(!entries.empty()) << source << " lists no kernel";
    return entries;
}

}  // namespace fldsl::package
