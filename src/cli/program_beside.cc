// SPDX-License-Identifier: Apache-2.0
#include "cli/program_beside.h"

#include <filesystem>

namespace cordon::cli {

std::string program_beside(const char* name) {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
}

}  // namespace cordon::cli
