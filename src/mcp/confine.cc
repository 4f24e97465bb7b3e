// SPDX-License-Identifier: Apache-2.0
#include "mcp/confine.h"

#include <string_view>

#include "os/capability.h"
#include "os/filter/own_filter.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/rlimit.h"
#include "os/seccomp.h"

namespace cordon::mcp {
namespace {

struct Step {
  std::string_view name;
  Status (*take)();
};

#if defined(__has_feature)
constexpr bool kHasSanitizer = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kHasSanitizer = false;
#endif
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30U;

Status become_undumpable() { return os::set_dumpable(false); }

Status close_others() { return os::close_from(3); }

Status set_limits() {
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  TRY_DO(os::set_rlimit(os::Rlimit::open_files, {.soft = 3, .hard = 3}));
  // A sanitizer maps terabytes that it never touches.
  if constexpr (kHasSanitizer) return {};
  return os::set_rlimit(os::Rlimit::address_space, {.soft = kMostMemory, .hard = kMostMemory});
}

// Nothing is held against a kernel that has it not: the filter alone lets no file be opened.
Status shut_files() {
  const auto abi = os::landlock_abi();
  if (!abi) return {};
  TRY(const os::LandlockRuleset rules,
      os::LandlockRuleset::create(os::landlock_rights_of(*abi), *abi));
  return rules.restrict_self();
}

Status load_filter() { return os::seccomp_load(os::own_filter(os::OwnProgram::mcp)); }

// The order is the argument: each line gives up what the lines below no longer need.
constexpr Step kSteps[] = {
    {"dumps", become_undumpable},  // first: nobody looks in from here on
    {"descriptors", close_others},
    {"capabilities", os::keep_none},
    {"no_new_privs", os::set_no_new_privs},  // the two below need it, without capabilities
    {"landlock", shut_files},
    {"limits", set_limits},   // leaves no descriptor for the two above
    {"filter", load_filter},  // last: it allows none of the above
};

}  // namespace

Status confine() {
  for (const Step& step : kSteps) {
    if (auto taken = step.take(); !taken) return std::move(taken).error().with(step.name);
  }
  return {};
}

}  // namespace cordon::mcp
