// SPDX-License-Identifier: Apache-2.0
#include "guest/wake.h"

#include <ctime>
#include <span>
#include <string_view>
#include <unistd.h>

#include "os/random.h"
#include "os/steering.h"

namespace cordon::guest {
namespace {

constexpr std::string_view kNetworkLink = "eth0";
constexpr std::uint64_t kSecond = 1'000'000'000;

// Of two machines that began as copies of each other neither may draw what the other draws.
Status take_seed(const os::Fd& random, const std::string& seed) {
  if (seed.size() != frame::kSeedBytes) return Error{Errc::invalid, "a seed of another length"};
  return os::reseed(random, std::as_bytes(std::span{seed}));
}

Status set_clock(std::uint64_t nanoseconds) {
  const timespec now{.tv_sec = static_cast<time_t>(nanoseconds / kSecond),
                     .tv_nsec = static_cast<long>(nanoseconds % kSecond)};
  if (::clock_settime(CLOCK_REALTIME, &now) != 0) return Error::from_errno("clock_settime");
  return {};
}

}  // namespace

Status become_unlike_others(const frame::Wake& wake, const os::Fd& random) {
  TRY_DO(take_seed(random, wake.seed));
  TRY_DO(set_clock(wake.clock));
  if (::sethostname(wake.host_name.data(), wake.host_name.size()) != 0) {
    return Error::from_errno("sethostname");
  }
  return wake.network ? os::join_as_guest(kNetworkLink) : Status{};
}

}  // namespace cordon::guest
