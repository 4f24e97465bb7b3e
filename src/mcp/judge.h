// SPDX-License-Identifier: Apache-2.0
// What becomes of one call of a tool: by its pin, the policy and its budget.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/minute_window.h"
#include "mcp/filter_frame.h"
#include "mcp/pins.h"
#include "policy/policy.h"

namespace cordon::mcp {

// One call, as it was read.
struct Call {
  std::string id;  // as JSON
  std::string tool;
  std::string arguments;  // canonical JSON
  std::string digest;     // of them
};

struct Judged {
  policy::Effect effect = policy::Effect::deny;
  std::string rule;
  std::string why;  // of an effect that is `ask`: the rule's own reason
  Refused refused;  // where it is denied
};

class Judge {
 public:
  // `pins` outlives it.
  Judge(std::string server, policy::Policy policy, const PinBook& pins, std::string accept)
      : server_{std::move(server)},
        policy_{std::move(policy)},
        pins_{pins},
        accept_{std::move(accept)} {}

  // One that is not denied is counted.
  Judged judge(const Call& call, Ticks now);
  // Whatever its arguments are.
  bool is_refused(const std::string& tool) const;

  // A refusal of `call` for another reason.
  Refused refusal(const Call& call, std::string code, std::string why) const;
  const std::string& server() const noexcept { return server_; }

 private:
  Refused by_policy(const Call& call, const policy::ToolQuery& query) const;
  bool is_within_budget(const Call& call, std::uint64_t most, Ticks now);

  std::string server_;
  policy::Policy policy_;
  const PinBook& pins_;
  std::string accept_;
  std::map<std::string, MinuteWindow> windows_;  // by tool
};

}  // namespace cordon::mcp
