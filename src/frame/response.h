// SPDX-License-Identifier: Apache-2.0
// A right that is taken away when something happens too often, as a plan has it.
#pragma once

#include <cstdint>
#include <string>

#include "frame/fields.h"

namespace cordon::frame {

struct Response {
  std::string when;  // "denials", "new_hosts", "bytes_out", "processes", "protected_writes"
  std::uint64_t more_than = 0;
  std::uint64_t within_seconds = 60;
  std::string then;  // "revoke_network", "freeze", "kill"
  std::string rule;  // "cordon.toml:12"
  bool is_taken = false;
  CORDON_FIELDS(Response, self.when, self.more_than, self.within_seconds, self.then, self.rule,
                self.is_taken);
};

}  // namespace cordon::frame
