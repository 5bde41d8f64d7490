// Two kinds of errors: the user's (what is wrong, with which value, what would be right) and ours (please report).
// A message is built only when its condition fails:
//     FLDSL_USER_CHECK(rows >= 1) << "tile(" << axis << ", " << rows << "): the number must be at least 1";
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace fldsl {

class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A mistake in a generator, a schedule or a command line.
class UserError : public Error {
  public:
    using Error::Error;
};

/// A broken invariant of ours.
class InternalError : public Error {
  public:
    using Error::Error;
};

namespace internal {

/// Collects a message and throws it at the end of the statement.
template<class Kind>
class Thrower {
  public:
    explicit Thrower(std::string suffix = {}) : suffix_(std::move(suffix)) {
    }
    template<class T>
    Thrower &operator<<(const T &part) {
        message_ << part;
        return *this;
    }
    [[noreturn]] ~Thrower() noexcept(false) {
        throw Kind(message_.str() + suffix_);
    }

  private:
    std::ostringstream message_;
    std::string suffix_;
};

}  // namespace internal
}  // namespace fldsl

#define FLDSL_USER_CHECK(condition) \
    if (condition) {                \
    } else                          \
        ::fldsl::internal::Thrower<::fldsl::UserError>()

#define FLDSL_STRINGIFY_2(x) #x
#define FLDSL_STRINGIFY(x) FLDSL_STRINGIFY_2(x)
#define FLDSL_INTERNAL_CHECK(condition)                        \
    if (condition) {                                           \
    } else                                                     \
        ::fldsl::internal::Thrower<::fldsl::InternalError>(    \
            " (internal error: " #condition " at " __FILE__ ":" FLDSL_STRINGIFY(__LINE__) "; please report it)")
