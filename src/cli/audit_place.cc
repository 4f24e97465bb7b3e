// SPDX-License-Identifier: Apache-2.0
// Where the caller's audit log lies, and where its notary.
#include <fcntl.h>
#include <unistd.h>

#include "audit/log_directory.h"
#include "cli/audit_verbs.h"
#include "cli/state_root.h"
#include "os/file.h"

namespace cordon::cli {

Result<os::Fd> open_log(const AuditOptions& options, const Context& context) {
  std::string path = options.log;
  if (path.empty()) {
    TRY(path, state_root(context));
    path = path + "/" + audit::kLogDirectory;
  }
  auto opened = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  if (opened) return opened;
  if (opened.error().code() != Errc::not_found) return std::move(opened).error().with(path);
  return Error{Errc::not_found, path +
                                    ": there is no audit log; `cordon run` begins one, and "
                                    "--log names the directory of another"};
}

Result<std::string> notary_root(const Context& context) {
  const auto path_in = [&](const char* name) {
    auto value = context.environment(name);
    return value && value->starts_with('/') ? *std::move(value) : std::string{};
  };
  if (const std::string data = path_in("XDG_DATA_HOME"); !data.empty()) {
    return data + "/cordon/notary";
  }
  if (const std::string home = path_in("HOME"); !home.empty()) {
    return home + "/.local/share/cordon/notary";
  }
  if (::geteuid() == 0) return std::string{"/var/lib/cordon-notary"};
  return Error{Errc::not_found, "neither XDG_DATA_HOME nor HOME is an absolute path"};
}

}  // namespace cordon::cli
