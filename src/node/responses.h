// SPDX-License-Identifier: Apache-2.0
// The responses of one sandbox's policy: what is counted comes in, what is due is recorded and then
// done, by whoever holds the sandbox.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "node/tripwires.h"
#include "record/denial.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

// Used from the loop's thread only.
class Responses {
 public:
  // What is done of one that is due. Each may be asked for before anybody can do it: then it is
  // done when somebody can.
  using Act = std::function<void(const Tripped&)>;
  struct Acts {
    Act kill;
    Act freeze;
  };
  // `log` outlives it.
  Responses(audit::Log& log, audit::Subject subject, const std::vector<frame::Response>& responses)
      : log_{log}, subject_{std::move(subject)}, wires_{responses} {}
  Responses(const Responses&) = delete;
  Responses& operator=(const Responses&) = delete;

  // In place of who did before; nothing: nobody does.
  void act_by(Acts acts);
  void revoke_by(Act act);
  // Told of each that was taken, and how it is told of; it outlives this.
  using Taken = std::function<void(const Tripped&, const Denial&)>;
  void when_taken(Taken act) { when_taken_ = std::move(act); }

  bool counts(Counted what) const noexcept { return wires_.counts(what); }
  void refused(const Denial& denial, bool is_protected);
  void met(const std::string& host);
  void total(Counted what, std::uint64_t sum);

  // What was done, each as a refusal.
  std::vector<Denial> take_taken() { return std::move(taken_); }

 private:
  void take(const std::vector<Tripped>& due);
  void act(const Tripped& tripped);
  void act_on_waiting();

  audit::Log& log_;
  audit::Subject subject_;
  Tripwires wires_;
  Acts acts_;
  Act revoke_;
  std::vector<Tripped> waiting_;  // for somebody who can
  std::vector<Denial> taken_;
  Taken when_taken_;
};

// Until `is_over`: asks the sandbox how many processes were made in it.
asio::awaitable<void> count_births_of(sandbox::Sandbox& sandbox, Responses& responses,
                                      std::function<bool()> is_over);

}  // namespace cordon::node
