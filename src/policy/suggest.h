// SPDX-License-Identifier: Apache-2.0
// The smallest change of a policy under which what a run was refused would be allowed; and what is
// not suggested, because only a person may say so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/explain.h"
#include "policy/registries.h"
#include "record/denial.h"
#include "record/verdict.h"

namespace cordon::policy {

// What is known of a run, and the document to change.
struct Lesson {
  std::vector<Denial> denials;
  std::optional<Verdict> verdict;
  std::string text;       // of the document, in TOML
  std::string file;       // its name
  std::string workspace;  // where it is inside
  std::string home;       // the caller's
  std::string why;        // what new rules give as their reason
  Registries registries;
  // Whether a path is there on this machine: nothing else can be mounted.
  std::function<bool(const std::string& path)> is_there;
};

enum class Sign : std::uint8_t {
  suggested,  // +
  left,       // ? to a person: a secret, a rule of their own, or what no edit can do
  never,      // ! a way out that nobody judges
};
char to_char(Sign sign) noexcept;

struct Suggestion {
  Sign sign = Sign::left;
  std::string kind;  // "net", "write", "limit", …
  std::string what;  // "static.example:443"
  std::uint64_t uses = 0;
  std::string risk;               // "low risk", "SECRET", "tunnel"
  std::string word;               // one more on it, for a person
  std::vector<Change> changes{};  // of one that is suggested, in the order they were made
};

struct Suggestions {
  std::vector<Suggestion> all;  // the suggested first, then those left, then those that never are
  std::uint64_t refusals = 0;   // that were looked at, with repetitions
  std::uint64_t already = 0;    // of these the document allows by now
  std::string text;             // of the document with all that is suggested
};

// Pure. Each refusal is asked of the document again, and of the document with every change so far:
// so the changes are no more than are needed, and under `text` the suggested acts are allowed.
// Three files or more of one directory become that directory, unless it is too wide or holds
// secrets. Never suggested: to take a rule away, a wider filter of system calls, names with `*`.
// Errors: the document's own.
Result<Suggestions> suggest(const Lesson& lesson);

}  // namespace cordon::policy
