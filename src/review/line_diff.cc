// SPDX-License-Identifier: Apache-2.0
// Myers' greedy search for the shortest edit script, between the common ends, within a bound.
#include "review/line_diff.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "review/printable.h"

namespace cordon::review {
namespace {

using Lines = std::vector<std::string_view>;
using Kind = LineStep::Kind;

constexpr int kMostChanges = 1000;  // the search keeps about as many squared integers

Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

// How far along the old text each diagonal came, for one number of changes; diagonal k is at
// k + number.
using Reach = std::vector<int>;

class Search {
 public:
  Search(std::span<const std::string_view> before, std::span<const std::string_view> after)
      : before_{before}, after_{after} {}

  // False when the bound was reached.
  bool run() {
    for (int changes = 0; changes <= kMostChanges; ++changes) {
      Reach reach((index(changes) * 2) + 1, 0);
      bool arrived = false;
      for (int k = -changes; k <= changes && !arrived; k += 2) {
        const int x = slide(start_of(changes, k), k);
        reach[index(k + changes)] = x;
        arrived = k == old_size() - new_size() && x >= old_size();
      }
      trace_.push_back(std::move(reach));
      if (arrived) return true;
    }
    return false;
  }

  // Back from the end; the steps come out in reverse order.
  std::vector<LineStep> steps_backwards() const {
    std::vector<LineStep> steps;
    int x = old_size();
    int y = new_size();
    for (int changes = static_cast<int>(trace_.size()) - 1; changes > 0; --changes) {
      const int k = x - y;
      const bool down = came_by_adding(changes, k);
      const int from_k = down ? k + 1 : k - 1;
      const int from_x = reached(changes - 1, from_k);
      const int from_y = from_x - from_k;
      for (; x > from_x + (down ? 0 : 1) && y > from_y + (down ? 1 : 0); --x, --y) {
        steps.push_back({Kind::keep, after_[index(y - 1)]});
      }
      if (down) {
        steps.push_back({Kind::add, after_[index(from_y)]});
      } else {
        steps.push_back({Kind::remove, before_[index(from_x)]});
      }
      x = from_x;
      y = from_y;
    }
    for (; y > 0; --y) steps.push_back({Kind::keep, after_[index(y - 1)]});
    return steps;
  }

 private:
  static std::size_t index(int value) { return static_cast<std::size_t>(value); }
  int old_size() const { return static_cast<int>(before_.size()); }
  int new_size() const { return static_cast<int>(after_.size()); }

  int reached(int changes, int k) const { return trace_[index(changes)][index(k + changes)]; }

  bool came_by_adding(int changes, int k) const {
    if (k == -changes) return true;
    if (k == changes) return false;
    return reached(changes - 1, k - 1) < reached(changes - 1, k + 1);
  }

  int start_of(int changes, int k) const {
    if (changes == 0) return 0;
    return came_by_adding(changes, k) ? reached(changes - 1, k + 1)
                                      : reached(changes - 1, k - 1) + 1;
  }

  int slide(int x, int k) const {
    int y = x - k;
    while (x < old_size() && y < new_size() && y >= 0 && before_[index(x)] == after_[index(y)]) {
      ++x;
      ++y;
    }
    return x;
  }

  std::span<const std::string_view> before_;
  std::span<const std::string_view> after_;
  std::vector<Reach> trace_;
};

void diff_middle(std::span<const std::string_view> before, std::span<const std::string_view> after,
                 std::vector<LineStep>& steps) {
  Search search{before, after};
  if (!before.empty() && !after.empty() && search.run()) {
    const auto backwards = search.steps_backwards();
    steps.insert(steps.end(), backwards.rbegin(), backwards.rend());
    return;
  }
  for (const auto line : before) steps.push_back({Kind::remove, line});
  for (const auto line : after) steps.push_back({Kind::add, line});
}

// The steps [begin, end) of one hunk, and the numbers of its first lines.
struct Hunk {
  std::size_t begin = 0;
  std::size_t end = 0;
};

constexpr std::size_t kContext = 3;

std::vector<Hunk> find_hunks(const std::vector<LineStep>& steps) {
  std::vector<Hunk> hunks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == Kind::keep) continue;
    const std::size_t begin = i > kContext ? i - kContext : 0;
    const std::size_t end = std::min(steps.size(), i + 1 + kContext);
    if (!hunks.empty() && begin <= hunks.back().end) {
      hunks.back().end = end;
    } else {
      hunks.push_back({begin, end});
    }
  }
  return hunks;
}

void append_line(std::string& text, const LineStep& step) {
  constexpr std::string_view kSigns = " -+";
  text += kSigns[static_cast<std::size_t>(step.kind)];
  const bool whole = step.line.ends_with('\n');
  text += printable(step.line.substr(0, step.line.size() - (whole ? 1 : 0)), Spelling::line);
  text += whole ? "\n" : "\n\\ No newline at end of file\n";
}

}  // namespace

std::vector<LineStep> diff_lines(std::string_view before, std::string_view after) {
  const Lines old_lines = split(before);
  const Lines new_lines = split(after);
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t head = 0;
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<LineStep> steps;
  steps.reserve(old_lines.size() + new_lines.size());
  for (std::size_t i = 0; i < head; ++i) steps.push_back({Kind::keep, new_lines[i]});
  const std::span all_old{old_lines};
  const std::span all_new{new_lines};
  diff_middle(all_old.subspan(head, all_old.size() - head - tail),
              all_new.subspan(head, all_new.size() - head - tail), steps);
  for (const auto line : all_new.last(tail)) steps.push_back({Kind::keep, line});
  return steps;
}

LineCount count_changes(const std::vector<LineStep>& steps) {
  LineCount count;
  for (const LineStep& step : steps) {
    if (step.kind == Kind::add) ++count.added;
    if (step.kind == Kind::remove) ++count.removed;
  }
  return count;
}

std::string unified_hunks(const std::vector<LineStep>& steps) {
  std::string text;
  std::size_t at = 0;
  std::size_t old_line = 0;  // lines before `at`
  std::size_t new_line = 0;
  const auto advance = [&](const LineStep& step) {
    old_line += step.kind == Kind::add ? 0 : 1;
    new_line += step.kind == Kind::remove ? 0 : 1;
  };
  for (const Hunk& hunk : find_hunks(steps)) {
    for (; at < hunk.begin; ++at) advance(steps[at]);
    const std::size_t old_first = old_line;
    const std::size_t new_first = new_line;
    std::string body;
    for (; at < hunk.end; ++at) {
      advance(steps[at]);
      append_line(body, steps[at]);
    }
    const std::size_t olds = old_line - old_first;
    const std::size_t news = new_line - new_first;
    // An empty side is numbered by the line before it.
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", old_first + (olds > 0 ? 1 : 0), olds,
                        new_first + (news > 0 ? 1 : 0), news, body);
  }
  return text;
}

}  // namespace cordon::review
