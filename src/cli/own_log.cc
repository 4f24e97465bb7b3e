// SPDX-License-Identifier: Apache-2.0
#include "cli/own_log.h"

#include <filesystem>

#include "audit/log_directory.h"
#include "os/own_directory.h"

namespace cordon::cli {

Result<std::unique_ptr<audit::Log>> open_own_log(const std::string& state, const Clock& clock) {
  std::error_code ignored;
  std::filesystem::create_directories(state, ignored);
  TRY(const os::Fd dir, os::open_own_directory(state));
  TRY(os::Fd log, audit::make_log_directory(dir));
  return audit::Log::open(std::move(log), clock);
}

}  // namespace cordon::cli
