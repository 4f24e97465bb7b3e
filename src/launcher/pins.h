// SPDX-License-Identifier: Apache-2.0
// Files of an engine that the floor names by what is in them too: with anything else in them they
// are not run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "os/file_status.h"

namespace cordon::launcher {

// By the path that the floor names: what digest_of() must say of it.
using PinnedDigests = std::map<std::string, std::string>;

class Pins {
 public:
  Pins() = default;
  explicit Pins(PinnedDigests wanted) : wanted_{std::move(wanted)} {}

  // As open_trusted() does; a file that is pinned is open for reading. `denied`: it is not the one
  // that was pinned. It is read whole at its first use, and again where it was touched since.
  Result<os::Fd> open(const std::string& path, int flags);

 private:
  // As it was when it was read.
  struct Seen {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    os::FileTime changed;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  PinnedDigests wanted_;
  std::map<std::string, Seen> right_;
};

}  // namespace cordon::launcher
