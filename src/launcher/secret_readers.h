// SPDX-License-Identifier: Apache-2.0
// Reading the sources of secrets that the floor names: each by a process of its own, which tells a
// broker what it has read. The launcher sees no secret but those of its own environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/launcher.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

// "file:/etc/cordon/token", and the one host that it may be used for.
struct SecretSource {
  std::string host;
  std::string source;
  friend bool operator==(const SecretSource&, const SecretSource&) = default;
};

struct SecretSources {
  std::vector<SecretSource> all;
  std::uint32_t uid = 0;  // of those who read them
};

// `broker`: the socket on which it hears of sources. `denied`: the floor does not name it for that
// host.
Result<os::Child> start_reader(const SecretSources& sources, const frame::ReadSource& wanted,
                               const os::Fd& broker);

}  // namespace cordon::launcher
