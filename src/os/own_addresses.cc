// SPDX-License-Identifier: Apache-2.0
#include "os/own_addresses.h"

#include <ifaddrs.h>
#include <memory>

namespace cordon::os {

Result<std::vector<IpAddress>> own_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return Error::from_errno("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all{first, &::freeifaddrs};
  std::vector<IpAddress> addresses;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    if (const auto address = IpAddress::of(*at->ifa_addr)) addresses.push_back(*address);
  }
  return addresses;
}

}  // namespace cordon::os
