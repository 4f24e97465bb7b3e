// SPDX-License-Identifier: Apache-2.0
#include "policy/problem.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace cordon::policy {
namespace {
// A hostile document must not make its refusal larger than itself.
constexpr std::size_t kMostProblems = 100;
}  // namespace

std::string to_string(const Problem& problem) {
  if (problem.mark.line == 0) return fmt::format("{}: {}", problem.file, problem.message);
  return fmt::format("{}:{}:{}: {}", problem.file, problem.mark.line, problem.mark.column,
                     problem.message);
}

bool Problems::full() const noexcept { return all_.size() >= kMostProblems; }

void Problems::add(Mark mark, std::string message) { add(file_, mark, std::move(message)); }

void Problems::add(std::string file, Mark mark, std::string message) {
  if (full()) return;
  const auto later = std::ranges::find_if(all_, [&](const Problem& known) {
    return known.file == file && (known.mark.line > mark.line || (known.mark.line == mark.line &&
                                                                  known.mark.column > mark.column));
  });
  all_.insert(later, {std::move(file), mark, std::move(message)});
}

void Problems::add_all(const Problems& other) {
  for (const Problem& problem : other.all_) add(problem.file, problem.mark, problem.message);
}

Error Problems::to_error() const {
  assert(!all_.empty());
  std::string text = to_string(all_.front());
  if (all_.size() > 1) text += fmt::format(" (and {} more)", all_.size() - 1);
  return {Errc::invalid, std::move(text)};
}

}  // namespace cordon::policy
