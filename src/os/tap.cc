// SPDX-License-Identifier: Apache-2.0
#include "os/tap.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>

#include "os/file.h"

namespace cordon::os {

Result<Fd> make_tap(std::string_view name) {
  ifreq request{};
  if (name.size() >= sizeof request.ifr_name) return Error::from_errno("tap", ENAMETOOLONG);
  TRY(Fd tap, openat(at_cwd(), "/dev/net/tun", O_RDWR));
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0) return Error::from_errno("TUNSETIFF");
  return tap;
}

}  // namespace cordon::os
