// SPDX-License-Identifier: Apache-2.0
// What went over the API of one file or tree, for the log: also where it breaks off.
#pragma once

#include <string_view>

#include "api/rest/call.h"
#include "audit/log.h"
#include "base/id.h"
#include "hash/sha256.h"
#include "record/audit_event.h"

namespace cordon::api {

class FileRecord {
 public:
  // `log` outlives it. Of `moved` are set: what it is, its path and its offset.
  FileRecord(audit::Log& log, const Call& call, const SandboxId& sandbox, FileMoved moved);
  FileRecord(const FileRecord&) = delete;
  FileRecord& operator=(const FileRecord&) = delete;
  // Whatever went over without conclude() is recorded as a part.
  ~FileRecord();

  // Before they are sent out, or when they have come in.
  void add(std::string_view bytes) noexcept;
  // Nothing follows. Once, and before the client is told that all is well: where this fails it is
  // not.
  Status conclude(bool is_whole = true);

 private:
  audit::Log& log_;
  audit::Subject subject_;
  FileMoved moved_;
  Sha256 hash_;
  bool is_written_ = false;  // to the log
};

}  // namespace cordon::api
