// SPDX-License-Identifier: Apache-2.0
#include "launcher/engine_trace.h"

#include <array>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "os/socket.h"

namespace cordon::launcher {
namespace {

enum class Names : std::uint8_t { none, directory };

std::string point(std::string_view name, Names names, std::string_view optional = {}) {
  return fmt::format(R"({{"name":"{}","optional_fields":[{}],"context_fields":["group_id"{}]}})",
                     name, optional, names == Names::directory ? R"(,"cwd")" : "");
}

constexpr std::string_view kPathOfDirectory = R"("fd_path")";

// Calls that are told with names, where they exist.
constexpr std::array kNumbered = {
#if defined(__x86_64__)
    SYS_open, SYS_creat,
#endif
    SYS_openat, SYS_execve, SYS_execveat};

}  // namespace

std::string trace_session() {
  std::vector<std::string> points{
      point("sentry/clone", Names::none),
      point("sentry/exit_notify_parent", Names::none),
      point("syscall/connect/exit", Names::none),
#if defined(__x86_64__)
      point("syscall/open/exit", Names::directory),
      point("syscall/creat/exit", Names::directory),
#endif
      point("syscall/openat/exit", Names::directory, kPathOfDirectory),
      point("syscall/execve/exit", Names::directory),
      point("syscall/execveat/exit", Names::directory, kPathOfDirectory),
  };
  for (const auto number : kNumbered) {
    points.push_back(point(fmt::format("syscall/sysno/{}/exit", number), Names::none));
  }
  // What finds no room waits a little for it, some tenths of a second in all, and is counted then.
  return fmt::format(
      R"({{"trace_session":{{"name":"Default","points":[{}],"sinks":[{{"name":"remote",)"
      R"("config":{{"endpoint":"{}","retries":40,"backoff":"50us","backoff_max":"10ms"}}}}]}}}})",
      fmt::join(points, ","), kTraceSocket);
}

Result<os::Fd> listen_for_trace() {
  TRY(const os::UnixAddress address, os::UnixAddress::at_path(kTraceSocket));
  TRY(os::Fd listener, os::unix_listen(address, os::SocketType::seqpacket, 1));
  // The engine has other ids than we have now.
  if (::chmod(kTraceSocket, 0666) != 0) return Error::from_errno("chmod").with(kTraceSocket);
  return listener;
}

}  // namespace cordon::launcher
