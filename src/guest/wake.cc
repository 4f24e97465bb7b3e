// SPDX-License-Identifier: Apache-2.0
#include "guest/wake.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/random.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/file.h"
#include "os/steering.h"

namespace cordon::guest {
namespace {

constexpr std::string_view kLink = "eth0";
constexpr std::uint64_t kSecond = 1'000'000'000;

// Of two machines that began as copies of each other neither may draw what the other draws.
Status take_seed(const std::string& seed) {
  if (seed.size() != frame::kSeedBytes) return Error{Errc::invalid, "a seed of another length"};
  // rand_pool_info and what follows it.
  struct Pool {
    int entropy_count;
    int buf_size;
    std::array<char, frame::kSeedBytes> bytes;
  };
  static_assert(offsetof(Pool, bytes) == offsetof(rand_pool_info, buf));
  Pool pool{.entropy_count = static_cast<int>(seed.size() * 8),
            .buf_size = static_cast<int>(seed.size()),
            .bytes = {}};
  std::memcpy(pool.bytes.data(), seed.data(), seed.size());
  TRY(const os::Fd random, os::openat(os::at_cwd(), "/dev/urandom", O_RDWR));
  if (::ioctl(random.get(), RNDADDENTROPY, &pool) != 0) return Error::from_errno("RNDADDENTROPY");
  if (::ioctl(random.get(), RNDRESEEDCRNG) != 0) return Error::from_errno("RNDRESEEDCRNG");
  return {};
}

Status set_clock(std::uint64_t nanoseconds) {
  const timespec now{.tv_sec = static_cast<time_t>(nanoseconds / kSecond),
                     .tv_nsec = static_cast<long>(nanoseconds % kSecond)};
  if (::clock_settime(CLOCK_REALTIME, &now) != 0) return Error::from_errno("clock_settime");
  return {};
}

}  // namespace

Status become_unlike_others(const frame::Wake& wake) {
  TRY_DO(take_seed(wake.seed));
  TRY_DO(set_clock(wake.clock));
  if (::sethostname(wake.host_name.data(), wake.host_name.size()) != 0) {
    return Error::from_errno("sethostname");
  }
  return os::join_as_guest(wake.network ? kLink : "");
}

}  // namespace cordon::guest
