// SPDX-License-Identifier: Apache-2.0
#include "monitor/told.h"

#include <cerrno>
#include <cstring>

#include "monitor/path_denial.h"
#include "os/filter/judged_call.h"
#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

std::string name_of(std::uint32_t call) {
  const std::string_view name = os::call_name(call);
  return name.empty() ? "system call " + std::to_string(call) : std::string{name};
}

std::string error_name(std::int64_t result) {
  if (result >= 0 || result == -EINPROGRESS) return {};
  const char* const name = ::strerrorname_np(static_cast<int>(-result));
  return name != nullptr ? name : std::to_string(-result);
}

bool is_refused_by(os::FilterProfile filter, const Seen& seen) {
  if (seen.result >= 0) return false;
  return os::refused_with(os::filter_program(filter), seen.call, seen.arguments) == -seen.result;
}

Denial denial_of(const Seen& seen, os::FilterProfile filter) {
  if (seen.result == -ENOSYS) {
    return {.code = std::string{kAbsentCall},
            .tried = name_of(seen.call) + " by " + seen.command,
            .resolved = {},
            .rule = "syscalls.profile",
            .why = "the filter of system calls, " + std::string{to_string(filter)} +
                   ", answers as a kernel does that has no such call",
            .fix = {},
            .action = "do without it, as on an older kernel"};
  }
  const auto wider =
      has_nosetid(filter) ? os::FilterProfile::compat_nosetid : os::FilterProfile::compat;
  const bool compat_helps = !is_compat(filter) && !is_refused_by(wider, seen);
  return {.code = "CORDON-SYSCALL",
          .tried = name_of(seen.call) + " by " + seen.command,
          .resolved = {},
          .rule = "syscalls.profile",
          .why = "the filter of system calls, " + std::string{to_string(filter)} +
                 ", refuses it with " + error_name(seen.result),
          .fix = compat_helps ? "syscalls.profile = \"compat\" in the policy" : "",
          .action = "do without it: it is refused every time"};
}

// The filter answers all else, and ends who enters the kernel by a door of another architecture.
Denial denial_of_end(const Seen& seen, os::FilterProfile filter) {
  return {.code = "CORDON-SYSCALL",
          .tried = "a system call of another architecture by " + seen.command,
          .resolved = {},
          .rule = "syscalls.profile",
          .why = "the filter of system calls, " + std::string{to_string(filter)} +
                 ", knows none of its numbers and ends who calls them (SIGSYS)",
          .fix = {},
          .action = "run programs of this machine's own architecture"};
}

// What is written to no disk.
bool is_device(const std::string& path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
}

// What a spawner of ours does to itself on its way down: before it is a program, and so by none.
// An orphan that does the same is a child of pid 1 too; it touches no file by it either.
bool is_of_a_spawner(const Seen& seen, const std::string& path) {
  constexpr std::uint32_t kInit = 1;
  return seen.parent == kInit && path == "/proc/" + std::to_string(seen.pid) + "/oom_score_adj";
}

std::optional<AuditEvent> told_file(const Seen& seen, const SeenFile& file, const Judges& judges) {
  if (seen.result < 0) {
    if (judges.files == nullptr) return std::nullopt;
    auto denial = path_denial(seen, file, *judges.files, judges.workspace);
    if (!denial) return std::nullopt;
    return ActRefused{*std::move(denial)};
  }
  const std::string& path = file.resolved.empty() ? file.used : file.resolved;
  if (is_device(path) || is_of_a_spawner(seen, path)) return std::nullopt;
  std::string act = name_of(seen.call);
  if (file.is_opened) act = (file.flags & CORDON_OPEN_WRITES) != 0 ? "write" : "read";
  return FileTouched{.pid = seen.pid,
                     .command = seen.command,
                     .act = std::move(act),
                     .path = path,
                     .to = file.second};
}

}  // namespace

bool is_failure_of_a_file(const Seen& seen) {
  return seen.result < 0 && std::holds_alternative<SeenFile>(seen.what);
}

std::optional<AuditEvent> told_of(const Seen& seen, const Judges& judges) {
  if (std::holds_alternative<SeenEnd>(seen.what)) {
    return ActRefused{denial_of_end(seen, judges.filter)};
  }
  if (is_refused_by(judges.filter, seen)) return ActRefused{denial_of(seen, judges.filter)};
  if (const auto* exec = std::get_if<SeenExec>(&seen.what)) {
    return ProgramStarted{.pid = seen.pid,
                          .parent = seen.parent,
                          .program = exec->program,
                          .arguments = exec->arguments,
                          .directory = exec->directory};
  }
  if (const auto* file = std::get_if<SeenFile>(&seen.what)) return told_file(seen, *file, judges);
  if (const auto* connect = std::get_if<SeenConnect>(&seen.what)) {
    return ConnectTried{.pid = seen.pid,
                        .command = seen.command,
                        .address = connect->address,
                        .port = connect->port,
                        .error = error_name(seen.result)};
  }
  return std::nullopt;
}

}  // namespace cordon::monitor
