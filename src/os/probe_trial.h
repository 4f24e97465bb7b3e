// SPDX-License-Identifier: Apache-2.0
// A trial: one experiment in a child of its own, so that whatever it does to itself ends with it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"
#include "record/host_facts.h"

namespace cordon::os {

using Experiment = std::function<Fact()>;

// How long all trials of a probe may take together.
struct TrialLimit {
  Ticks deadline;
  std::chrono::milliseconds span;  // as it is told
};

// Owns the child: its end kills and reaps it. The caller has one thread, because the child goes on
// with a copy of its memory and may allocate.
class Trial {
 public:
  // Forks; the child runs `experiment`, hands its fact over and ends without destructors. It dies
  // with us. A host on which nothing can be forked makes finish() say so.
  static Trial start(const Experiment& experiment);

  Trial(Trial&& other) noexcept;
  Trial& operator=(Trial&&) = delete;
  ~Trial();

  // The fact, or `blocked` for a child that died or did not answer in time.
  Fact finish(const TrialLimit& limit) &&;

  pid_t pid() const noexcept { return pid_; }

 private:
  Trial() = default;
  // Kills and reaps; the wait status, or nothing when there is no child or it will not end.
  std::optional<int> end() noexcept;

  pid_t pid_ = -1;
  Fd answer_;
  std::string failure_;
};

Fact ok_fact(std::string detail = {});
// `absent` where the errno says that the kernel has no such thing, else `blocked`.
Fact refused_fact(const Error& error, std::string remedy = {});

// Made by finish() for want of time.
bool is_late(const Fact& fact);

// Waits until `fd` can be read, or its other end is closed. False: `deadline` passed first.
bool readable_before(const Fd& fd, Ticks deadline);

}  // namespace cordon::os
