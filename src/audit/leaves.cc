// SPDX-License-Identifier: Apache-2.0
#include "audit/leaves.h"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <vector>

#include "audit/segment.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/positioned_file.h"

namespace cordon::audit {
namespace {

constexpr std::uint64_t kAtOnce = 8192;

}  // namespace

Result<bool> read_leaves(const os::Fd& directory, std::uint64_t first,
                         const std::function<bool(const Digest&)>& take) {
  const std::string name = leaves_name(first);
  TRY(const os::Fd file, os::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW));
  TRY(const os::FileStatus status, os::statx(file));
  if (status.size % sizeof(Digest) != 0) {
    return Error{Errc::invalid, "audit log: " + name + " does not end with a whole hash"};
  }
  std::vector<Digest> some;
  for (std::uint64_t at = 0; at < status.size; at += some.size() * sizeof(Digest)) {
    some.resize(std::min(kAtOnce, (status.size - at) / sizeof(Digest)));
    TRY_DO(os::read_at(file, at, std::as_writable_bytes(std::span{some})));
    for (const Digest& leaf : some) {
      if (!take(leaf)) return false;
    }
  }
  return true;
}

Result<std::uint64_t> read_all_leaves(const os::Fd& directory,
                                      const std::function<void(const Digest&)>& take) {
  TRY(const auto segments, list_segments(directory));
  TRY(const auto dropped, list_leaves(directory));
  std::uint64_t count = 0;
  for (const std::uint64_t first : dropped) {
    // Whoever dropped it died before the segment went.
    if (!segments.empty() && first >= segments.front()) break;
    if (first != count) return Error{Errc::invalid, "audit log: hashes of records are missing"};
    TRY(const bool all, read_leaves(directory, first, [&](const Digest& leaf) {
          take(leaf);
          ++count;
          return true;
        }));
    static_cast<void>(all);
  }
  if (!segments.empty() && count != segments.front()) {
    return Error{Errc::invalid,
                 "audit log: records are missing before " + segment_name(segments.front())};
  }
  return count;
}

}  // namespace cordon::audit
