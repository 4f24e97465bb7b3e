// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>

#include "audit/heads_file.h"
#include "audit/log_directory.h"
#include "cli/audit_verbs.h"
#include "cli/program_beside.h"
#include "cli/state_root.h"
#include "os/spawn.h"

namespace cordon::cli {
namespace {

constexpr std::chrono::minutes kBetweenHeads{1};

bool is_recent(const std::string& path) {
  std::error_code none;
  const auto written = std::filesystem::last_write_time(path, none);
  if (none) return false;
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  // A clock that was put back: it is signed rather once more.
  return age >= std::chrono::seconds{0} && age < kBetweenHeads;
}

}  // namespace

void seal_soon(const std::string& state, const Context& context) {
  const std::string log = state + "/" + audit::kLogDirectory;
  if (is_recent(log + "/" + audit::kHeads)) return;
  const auto notary = notary_root(context);
  if (!notary) return;
  std::error_code ignored;
  std::filesystem::create_directories(*notary, ignored);
  static_cast<void>(os::spawn_and_leave(program_beside("cordon-notary"),
                                        {"cordon-notary", "--seal", log, *notary}, {}));
}

}  // namespace cordon::cli
