// SPDX-License-Identifier: Apache-2.0
// getrandom in a loop: above 256 bytes a signal may cut it short.
#include "os/random.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <vector>

#include "os/file.h"

namespace cordon::os {

Status getrandom(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("getrandom");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<Fd> open_random() { return openat(at_cwd(), "/dev/urandom", O_RDWR); }

Status reseed(const Fd& random, std::span<const std::byte> bytes) {
  const rand_pool_info head{.entropy_count = static_cast<int>(bytes.size() * 8),
                            .buf_size = static_cast<int>(bytes.size())};
  std::vector<std::byte> pool(sizeof head + bytes.size());
  std::memcpy(pool.data(), &head, sizeof head);
  std::memcpy(pool.data() + sizeof head, bytes.data(), bytes.size());
  if (::ioctl(random.get(), RNDADDENTROPY, pool.data()) != 0) {
    return Error::from_errno("RNDADDENTROPY");
  }
  if (::ioctl(random.get(), RNDRESEEDCRNG) != 0) return Error::from_errno("RNDRESEEDCRNG");
  return {};
}

}  // namespace cordon::os
