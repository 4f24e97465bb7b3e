// SPDX-License-Identifier: Apache-2.0
// Where the log lies that the caller asks for.
#include <fcntl.h>

#include "audit/log_directory.h"
#include "cli/audit_verbs.h"
#include "cli/state_root.h"
#include "os/file.h"

namespace cordon::cli {

Result<std::string> log_path(const AuditOptions& options, const Context& context) {
  if (!options.log.empty()) return options.log;
  TRY(const std::string state, state_root(context));
  return state + "/" + audit::kLogDirectory;
}

Result<os::Fd> open_log(const AuditOptions& options, const Context& context) {
  TRY(const std::string path, log_path(options, context));
  auto opened = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  if (opened) return opened;
  if (opened.error().code() != Errc::not_found) return std::move(opened).error().with(path);
  return Error{Errc::not_found, path +
                                    ": there is no audit log; `cordon run` begins one, and "
                                    "--log names the directory of another"};
}

}  // namespace cordon::cli
