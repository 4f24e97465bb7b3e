// SPDX-License-Identifier: Apache-2.0
// All of a pid namespace stands still, and goes on as it was. Signals do it, from the one who
// cannot be signalled back: they work in every tier. A kernel wakes whom it stopped where a timer
// or an orphaned group asks for it: so who stands is looked at, and who will not stand is ended.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace cordon::guest {

// What /proc/PID/stat says of a process.
struct ProcessLine {
  char state = 0;  // 'R', 'S', 'T', …
  pid_t session = 0;
  int threads = 0;
};
// Nothing: it says nothing like it.
std::optional<ProcessLine> line_of(std::string_view stat);
// It does not run, and will not by itself.
constexpr bool stands(char state) noexcept {
  return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

class Stillness {
 public:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    pid_t pid = 0;
    char state = 0;  // of a process whose first thread has ended: of another one
    pid_t session = 0;
  };
  // `is_program`: of this pid it is known that it is a workload's.
  explicit Stillness(std::function<bool(pid_t)> is_program) : is_program_{std::move(is_program)} {}

  bool is_on() const noexcept { return is_on_; }

  // Stops all but us. Behind a user-space kernel somebody may be born meanwhile: until nobody is.
  void begin();
  // Those of ours go on: who starts programs and who is at files, in our session as no program is.
  void let_ours_go_on();
  // Somebody may have been woken: who was is stopped again, and ended where that is of no use.
  void look_again();
  // There is news of a child, whose death may have woken others.
  void look_soon();
  // When to look at the latest; nothing: never.
  std::optional<Clock::time_point> deadline() const;
  // It is no more.
  void forget(pid_t pid);
  // All go on but those that stood before; children first, so that no shell sees that they stood.
  void end();

 private:
  struct Held {
    bool has_stood = false;
    int wakes = 0;
    Clock::time_point awake_since;
  };
  // Of this pid namespace, but for its pid 1; those behind come later.
  static Result<std::vector<Seen>> look();
  bool is_ours(const Seen& seen) const;
  // True: it was awake.
  bool hold(const Seen& seen, Clock::time_point now);

  std::function<bool(pid_t)> is_program_;
  bool is_on_ = false;
  pid_t session_ = 0;       // ours
  std::set<pid_t> before_;  // stood already
  std::map<pid_t, Held> held_;
  int wakes_ = 0;  // of all
  Clock::time_point looked_;
  Clock::duration pause_{};
};

}  // namespace cordon::guest
