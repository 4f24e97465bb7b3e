// SPDX-License-Identifier: Apache-2.0
// Who runs us, by number and name, and which ids the system lends them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace cordon::os {

struct CallerIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};
CallerIds caller_ids() noexcept;

struct CallerAccount {
  std::string name;  // the number where the system knows no name
  std::string home;  // of the account, not of the environment; empty where there is none
};
CallerAccount caller_account(std::uint32_t uid);

struct SpareIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};
// The first subordinate id of each kind (/etc/subuid, /etc/subgid). `not_found`: there is none.
Result<SpareIds> find_spare_ids(const CallerIds& caller);

}  // namespace cordon::os
