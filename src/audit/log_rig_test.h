// SPDX-License-Identifier: Apache-2.0
// What the tests of this module share.
#pragma once

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "audit/record.h"
#include "os/file.h"

namespace cordon::audit {

inline const WallTime kTime{std::chrono::milliseconds{1700000000123}};
inline const Subject kSubject{.tenant = "acme", .sandbox = "k7f3"};

inline os::Fd opened(const std::filesystem::path& path) {
  auto fd = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  return fd ? *std::move(fd) : os::Fd{};
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace cordon::audit
