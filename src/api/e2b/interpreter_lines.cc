// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/interpreter_lines.h"

#include <algorithm>
#include <charconv>

namespace cordon::api::e2b {
namespace {

std::optional<InterpreterLines::Kind> kind_of(std::string_view word) {
  using enum InterpreterLines::Kind;
  if (word == "event") return event;
  if (word == "done") return done;
  if (word == "failed") return failed;
  return std::nullopt;
}

}  // namespace

// False: the head is of no line of ours.
bool InterpreterLines::read_head() {
  const std::size_t space = head_.find(' ');
  const char* const end = head_.data() + space;
  const auto [read, error] = std::from_chars(head_.data(), end, number_);
  const auto kind = kind_of(std::string_view{head_}.substr(space + 1));
  if (error != std::errc{} || read != end || !kind) return false;
  kind_ = *kind;
  return true;
}

std::optional<InterpreterLines::Piece> InterpreterLines::next() {
  while (!rest_.empty()) {
    const std::size_t line_end = rest_.find('\n');
    const bool ends = line_end != std::string_view::npos;
    if (at_ == At::text) {
      const Piece piece{number_, kind_, rest_.substr(0, line_end), ends};
      rest_.remove_prefix(ends ? line_end + 1 : rest_.size());
      if (ends) at_ = At::head;
      return piece;
    }
    if (at_ == At::nonsense) {
      rest_.remove_prefix(ends ? line_end + 1 : rest_.size());
      if (ends) at_ = At::head;
      continue;
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') {
      head_.clear();
    } else if (c == ' ' && std::ranges::count(head_, ' ') == 1) {
      at_ = read_head() ? At::text : At::nonsense;
      head_.clear();
    } else if (head_.size() == kLongestHead) {
      at_ = At::nonsense;
      head_.clear();
    } else {
      head_ += c;
    }
  }
  return std::nullopt;
}

}  // namespace cordon::api::e2b
