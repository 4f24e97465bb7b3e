// SPDX-License-Identifier: Apache-2.0
#include "audit/segment_lines.h"

#include <cerrno>
#include <unistd.h>
#include <utility>

#include "audit/record.h"

namespace cordon::audit {
namespace {
// The first piece is small: often one line is all that is wanted.
constexpr std::size_t kFirst = std::size_t{4} << 10U;
constexpr std::size_t kMore = std::size_t{256} << 10U;
}  // namespace

Result<std::optional<std::string_view>> SegmentLines::next() {
  std::size_t searched = taken_;
  while (true) {
    const std::size_t end = held_.find('\n', searched);
    if (end != std::string::npos) {
      const std::string_view line = std::string_view{held_}.substr(taken_, end - taken_);
      taken_ = end + 1;
      at_ += line.size() + 1;
      return std::optional{line};
    }
    if (held_.size() - taken_ > kLongestLine) {
      return Error{Errc::exhausted, "audit log: a line is longer than a record can be"};
    }
    held_.erase(0, taken_);
    taken_ = 0;
    searched = held_.size();
    const std::size_t piece = std::exchange(is_first_, false) ? kFirst : kMore;
    held_.resize(searched + piece);
    const ssize_t got =
        ::pread(file_.get(), held_.data() + searched, piece, static_cast<off_t>(read_));
    held_.resize(searched + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("pread").with("audit log");
    if (got == 0) return std::optional<std::string_view>{};
    read_ += static_cast<std::uint64_t>(got);
  }
}

}  // namespace cordon::audit
