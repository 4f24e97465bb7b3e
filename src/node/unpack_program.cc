// SPDX-License-Identifier: Apache-2.0
#include "node/unpack_program.h"

#include <filesystem>

namespace cordon::node {

std::string unpack_program() {
  std::error_code ignored;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (own.parent_path() / "cordon-unpack").string();
}

}  // namespace cordon::node
