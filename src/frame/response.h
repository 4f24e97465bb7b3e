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
  // The same rule, whether it was taken or not.
  bool is_like(const Response& other) const {
    return when == other.when && more_than == other.more_than &&
           within_seconds == other.within_seconds && then == other.then && rule == other.rule;
  }
  CORDON_FIELDS(Response, self.when, self.more_than, self.within_seconds, self.then, self.rule,
                self.is_taken);
};

}  // namespace cordon::frame
