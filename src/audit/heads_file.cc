// SPDX-License-Identifier: Apache-2.0
#include "audit/heads_file.h"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "base/bytes.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/positioned_file.h"

namespace cordon::audit {
namespace {

// No head is longer.
constexpr std::uint64_t kLongestHead = 1024;

Result<std::uint64_t> end_of_lines(const os::Fd& file) {
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size < 0) return Error::from_errno("lseek");
  const auto bytes = static_cast<std::uint64_t>(size);
  std::string last(std::min(bytes, kLongestHead), '\0');
  const std::uint64_t from = bytes - last.size();
  TRY_DO(os::read_at(file, from, std::as_writable_bytes(std::span{last})));
  const std::size_t newline = last.rfind('\n');
  if (newline != std::string::npos) return from + newline + 1;
  if (from == 0) return 0;
  return Error{Errc::denied, "heads of the audit log: the last line is none"};
}

}  // namespace

Status append_head(const os::Fd& file, const Head& head) {
  TRY(const std::uint64_t end, end_of_lines(file));
  if (::ftruncate(file.get(), static_cast<off_t>(end)) != 0) return Error::from_errno("ftruncate");
  TRY_DO(os::write_at(file, end, as_bytes(encode(head) + '\n')));
  return os::sync_data(file);
}

Status append_head(const os::Fd& directory, const char* name, const Head& head) {
  TRY(const os::Fd file, os::openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  TRY_DO(os::wait_flock(file, os::Lock::exclusive));
  return append_head(file, head);
}

}  // namespace cordon::audit
