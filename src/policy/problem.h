// SPDX-License-Identifier: Apache-2.0
// What is wrong with a document: all of it, in reading order, not only the first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/place.h"

namespace cordon::policy {

struct Problem {
  std::string file;
  Mark mark;
  std::string message;  // what is wrong, the rule, and what to write instead
  friend bool operator==(const Problem&, const Problem&) = default;
};

// "cordon.toml:12:3: unknown key `hid` in [filesystem]; did you mean `hide`?"
std::string to_string(const Problem& problem);

class Problems {
 public:
  explicit Problems(std::string file) : file_{std::move(file)} {}

  void add(Mark mark, std::string message);
  // The same with the name of another file: a preset that the document extends.
  void add(std::string file, Mark mark, std::string message);

  // All problems of `other`, which keep the names of their files.
  void add_all(const Problems& other);

  bool empty() const noexcept { return all_.empty(); }
  // No more are taken: there are a hundred.
  bool full() const noexcept;
  const std::vector<Problem>& all() const noexcept { return all_; }
  // Before: not empty. The first in reading order, and how many more there are.
  Error to_error() const;

 private:
  std::string file_;
  std::vector<Problem> all_;
};

}  // namespace cordon::policy
