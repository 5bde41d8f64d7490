#include "src/passes/share.h"

#include "src/support/expr_text.h"

namespace fldsl::passes {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

/// Variables, constants, casts of them, integer and boolean work cost less than keeping them.
bool worth_keeping(const Expr &e) {
    if (!e.type().is_float() || e.as<Variable>() || is_const(e)) {
        return false;
    }
    const Cast *cast = e.as<Cast>();
    return !cast || worth_keeping(cast->value);
}

class Visit : public IRMutator {
  public:
    explicit Visit(std::function<bool(const Expr &)> f) : f_(std::move(f)) {
    }
    Expr mutate(const Expr &e) override {
        return f_(e) ? IRMutator::mutate(e) : e;
    }

  private:
    std::function<bool(const Expr &)> f_;
};

class Extract : public IRMutator {
  public:
    Extract(const std::map<std::string, std::set<std::string>> &readers, const Sharing::Define &define)
        : readers_(readers), define_(define) {
    }
    Expr run(const Expr &e, const std::set<std::string> &surroundings, bool keep_top) {
        surroundings_ = surroundings;
        keep_top_ = keep_top;
        return mutate(e);
    }
    Expr mutate(const Expr &e) override {
        const bool top = keep_top_;
        keep_top_ = false;
        if (!worth_keeping(e)) {
            return IRMutator::mutate(e);
        }
        auto it = readers_.find(expr_to_text(e));
        const bool wider = it != readers_.end() && it->second.size() > surroundings_.size();
        if (!wider) {
            return IRMutator::mutate(e);
        }
        const std::set<std::string> outside = surroundings_;
        surroundings_ = it->second;
        const Expr inner = IRMutator::mutate(e);
        surroundings_ = outside;
        return top ? inner : define_(e, inner);
    }

  private:
    const std::map<std::string, std::set<std::string>> &readers_;
    const Sharing::Define &define_;
    std::set<std::string> surroundings_;
    bool keep_top_ = false;
};

}  // namespace

void Sharing::count(const Expr &e, const std::string &reader) {
    Visit visit([&](const Expr &sub) {
        if (worth_keeping(sub)) {
            readers_[expr_to_text(sub)].insert(reader);
        }
        return true;
    });
    visit.mutate(e);
}

void Sharing::describe(const std::string &reader, const std::string &predicate) {
    predicates_[reader] = predicate;
}

bool Sharing::is_shared(const Expr &e) const {
    auto it = readers_.find(expr_to_text(e));
    return it != readers_.end() && it->second.size() > 1;
}

bool Sharing::one_predicate(const Expr &e) const {
    std::set<std::string> predicates;
    auto it = readers_.find(expr_to_text(e));
    if (it == readers_.end()) {
        return false;
    }
    for (const std::string &r : it->second) {
        predicates.insert(predicates_.at(r));
    }
    return predicates.size() == 1 && *predicates.begin() != "not a sum";
}

Expr Sharing::extract(const Expr &e, const std::string &reader, const Define &define, bool keep_top) const {
    return Extract(readers_, define).run(e, {reader}, keep_top);
}

}  // namespace fldsl::passes
