// SPDX-License-Identifier: Apache-2.0
// The record of what happened, as lines of JSON appended to one file.
#pragma once

#include <span>
#include <string>

#include "audit/record.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

// One line without its newline: {"time_ms":…,"sandbox":…,"event":…,…}, as a record of
// audit/record.h but for what its place gives it.
std::string to_line(const Subject& subject, const AuditEvent& event, WallTime time);

class FileLog {
 public:
  // Opens or makes `name` (0600) in `directory` for appending.
  static Result<FileLog> open(const os::Fd& directory, const std::string& name, const Clock& clock);

  // Returns once the record is in the kernel: it survives the death of any process. A failure means
  // that the act it describes must not happen.
  Status append(const SandboxId& sandbox, const AuditEvent& event);
  // Several that happened, in their order, with one write.
  Status append(const SandboxId& sandbox, std::span<const AuditEvent> events);
  Status append(const Subject& subject, std::span<const AuditEvent> events);

 private:
  FileLog(os::Fd file, const Clock& clock) : file_{std::move(file)}, clock_{clock} {}
  os::Fd file_;
  const Clock& clock_;
};

}  // namespace cordon::audit
