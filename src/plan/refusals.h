// SPDX-License-Identifier: Apache-2.0
// Why a policy cannot be lowered here: all reasons, not only the first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/checked.h"
#include "record/denial.h"

namespace cordon::plan {

// "cordon.toml:12", or "default" where no line says it.
std::string rule_text(const policy::PolicyDocument& document, policy::Place place);

class Refusals {
 public:
  // `what` is what was asked for, `why` a sentence on why it cannot be, `fix` a command that a
  // person may type, or empty. A refusal that says the same as an earlier one is left out.
  void add(Errc code, std::string_view name, Denial denial);

  bool empty() const noexcept { return all_.empty(); }
  const std::vector<Denial>& all() const noexcept { return all_; }
  // Before: not empty. The first, how many more there are, and its fix.
  Error to_error() const;

 private:
  Errc first_ = Errc::internal;
  std::vector<Denial> all_;
};

}  // namespace cordon::plan
