// SPDX-License-Identifier: Apache-2.0
#include "api/rest/file_record.h"

#include "base/bytes.h"
#include "base/log.h"

namespace cordon::api {

FileRecord::FileRecord(audit::Log& log, const Call& call, const SandboxId& sandbox, FileMoved moved)
    : log_{log}, subject_{call.tenant, sandbox.text()}, moved_{std::move(moved)} {
  moved_.key = call.key;
  moved_.request = call.id;
}

FileRecord::~FileRecord() {
  if (is_written_ || moved_.bytes == 0) return;
  if (const Status written = conclude(false); !written) {
    log(LogLevel::error, "api", "a file that went over in part was not recorded",
        {{"request", moved_.request}, {"failure", written.error().text()}});
  }
}

void FileRecord::add(std::string_view bytes) noexcept {
  hash_.add(as_bytes(bytes));
  moved_.bytes += bytes.size();
}

Status FileRecord::conclude(bool is_whole) {
  is_written_ = true;
  Digest digest{};
  hash_.end(digest);
  moved_.sha256 = to_hex(digest);
  moved_.is_whole = is_whole;
  return log_.append(subject_, moved_);
}

}  // namespace cordon::api
