// SPDX-License-Identifier: Apache-2.0
// The first file system of a machine, as its kernel unpacks it (cpio, newc). (pure)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cordon::machine {

struct PackedFile {
  std::string path;  // relative; of directories before what is in them
  std::string bytes;
  std::uint32_t mode = 0100644;  // with its kind
};

std::string pack(const std::vector<PackedFile>& files);

}  // namespace cordon::machine
