// SPDX-License-Identifier: Apache-2.0
#include "audit/file_log.h"

#include <fcntl.h>

#include "os/file.h"

namespace cordon::audit {

std::string to_line(const Subject& subject, const AuditEvent& event, WallTime time) {
  return R"({"time_ms":)" + std::to_string(time.time_since_epoch().count()) + ',' +
         encode_body(subject, event);
}

Result<FileLog> FileLog::open(const os::Fd& directory, const std::string& name,
                              const Clock& clock) {
  auto opened =
      os::openat(directory, name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
  if (!opened) return std::move(opened).error().with("audit log " + name);
  return FileLog{*std::move(opened), clock};
}

Status FileLog::append(const SandboxId& sandbox, const AuditEvent& event) {
  return append(sandbox, std::span{&event, 1});
}

Status FileLog::append(const SandboxId& sandbox, std::span<const AuditEvent> events) {
  return append(Subject{.tenant = {}, .sandbox = sandbox.text()}, events);
}

Status FileLog::append(const Subject& subject, std::span<const AuditEvent> events) {
  std::string lines;
  for (const AuditEvent& event : events) lines += to_line(subject, event, clock_.wall()) + '\n';
  // One write with O_APPEND: lines of several runs never mix.
  return os::write_all(file_, lines);
}

}  // namespace cordon::audit
