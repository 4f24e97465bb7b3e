// SPDX-License-Identifier: Apache-2.0
#include "policy/suggest.h"

#include <algorithm>

#include "policy/explain_parts.h"
#include "policy/parse.h"
#include "policy/suggest_parts.h"
#include "policy/toml_edit.h"

namespace cordon::policy {
namespace {

// An act needs a handful of edits at most: the network, and a rule.
constexpr int kMostEdits = 4;

// The document as it is by now, and what it decides.
class Draft {
 public:
  static Result<Draft> begin(const Lesson& lesson) {
    TRY(Policy policy, read(lesson, lesson.text));
    return Draft{lesson, lesson.text, std::move(policy)};
  }

  const Policy& policy() const { return policy_; }
  std::string take() { return std::move(text_); }

  Status make(const Change& change) {
    TRY(std::string text, edited(text_, change));
    TRY(policy_, read(lesson_, text));
    text_ = std::move(text);
    return {};
  }

 private:
  Draft(const Lesson& lesson, std::string text, Policy policy)
      : lesson_{lesson}, text_{std::move(text)}, policy_{std::move(policy)} {}

  static Result<Policy> read(const Lesson& lesson, const std::string& text) {
    TRY(PolicyDocument document, parse(text, lesson.file, Syntax::toml));
    return check(std::move(document), Origin::user, lesson.registries);
  }

  const Lesson& lesson_;
  std::string text_;
  Policy policy_;
};

// "…" stands where a person says why.
void give_reason(std::string& value, const std::string& why) {
  const std::string empty = "\"…\"";
  if (const auto at = value.find(empty); at != std::string::npos) {
    value.replace(at, empty.size(), toml_text(why));
  }
}

// The same with the network turned on first, so that the rule is a rule of its list.
Change first_step(Change change, const std::string& why) {
  if (change.edit == Edit::set && change.key == "network") {
    return {Edit::set, change.file, "network.mode", "\"restricted\"", {}};
  }
  give_reason(change.value, why);
  return change;
}

class Learner {
 public:
  Learner(const Lesson& lesson, Draft draft) : lesson_{lesson}, draft_{std::move(draft)} {}

  Result<Suggestions> learn() && {
    std::vector<Wish> wishes;
    for (const Denial& denial : lesson_.denials) {
      if (is_no_matter_of_a_policy(denial)) continue;
      found_.refusals += denial.count;
      if (auto kept = kept_from_suggesting(denial, lesson_)) {
        note(*std::move(kept));
      } else if (auto act = act_of(denial)) {
        wishes.push_back({.act = *std::move(act), .uses = denial.count});
      }
    }
    for (const Wish& wish : in_directories(std::move(wishes), lesson_)) grant(wish);
    for (Suggestion& limit : limits_of(lesson_, draft_.policy())) make(std::move(limit));
    if (needs_a_network_to_tell(lesson_, draft_.policy(), !found_.all.empty())) {
      make(network_that_tells(lesson_));
    }
    put_in_order();
    found_.text = draft_.take();
    return std::move(found_);
  }

 private:
  // Of the same thing there is one line.
  void note(Suggestion one) {
    const auto same = std::ranges::find_if(found_.all, [&](const Suggestion& held) {
      return held.kind == one.kind && held.what == one.what && held.sign == one.sign;
    });
    if (same == found_.all.end()) return found_.all.push_back(std::move(one));
    same->uses += one.uses;
    for (Change& change : one.changes) same->changes.push_back(std::move(change));
  }

  void grant(const Wish& wish) {
    Suggestion one = suggestion_of(wish, lesson_);
    for (int step = 0; step < kMostEdits; ++step) {
      const Explanation told = explain(draft_.policy(), wish.act, lesson_.workspace);
      if (told.effect == Effect::allow) {
        if (one.changes.empty()) return allowed_already(wish, one);
        return note(std::move(one));
      }
      // One document, so one change.
      const Change change = first_step(told.changes.front(), lesson_.why);
      if (const auto hindrance = hindrance_of(change, wish, told, lesson_)) {
        return note(left_to_a_person(wish, *hindrance, lesson_));
      }
      if (const Status made = draft_.make(change); !made) {
        return note(left_to_a_person(wish, made.error().text(), lesson_));
      }
      one.changes.push_back(change);
    }
    note(left_to_a_person(wish, "no single change of this document allows it", lesson_));
  }

  // By the document as it was, or by what another refusal has just added to it.
  void allowed_already(const Wish& wish, const Suggestion& one) {
    const auto by_this = std::ranges::find_if(found_.all, [&](const Suggestion& held) {
      return held.sign == Sign::suggested && held.kind == one.kind && held.what == one.what;
    });
    if (by_this != found_.all.end()) {
      by_this->uses += wish.uses;
    } else {
      found_.already += wish.uses;
    }
  }

  // A suggestion that brings its changes with it.
  void make(Suggestion one) {
    for (const Change& change : one.changes) {
      if (const Status made = draft_.make(change); !made) {
        one.sign = Sign::left;
        one.word = made.error().text();
        one.changes.clear();
        break;
      }
    }
    note(std::move(one));
  }

  void put_in_order() {
    std::vector<Suggestion> in_order;
    for (const Sign sign : {Sign::suggested, Sign::left, Sign::never}) {
      for (const Suggestion& one : found_.all) {
        if (one.sign == sign) in_order.push_back(one);
      }
    }
    found_.all = std::move(in_order);
  }

  const Lesson& lesson_;
  Draft draft_;
  Suggestions found_;
};

}  // namespace

char to_char(Sign sign) noexcept {
  switch (sign) {
    case Sign::suggested:
      return '+';
    case Sign::left:
      return '?';
    case Sign::never:
      return '!';
  }
  return '?';
}

Result<Suggestions> suggest(const Lesson& lesson) {
  TRY(Draft draft, Draft::begin(lesson));
  return Learner{lesson, std::move(draft)}.learn();
}

}  // namespace cordon::policy
