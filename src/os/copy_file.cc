// SPDX-License-Identifier: Apache-2.0
// Data ranges one by one, by copy_file_range, or by hand where the two filesystems cannot.
#include "os/copy_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace cordon::os {
namespace {

struct DataRange {
  off_t begin;
  off_t end;
};

// The next range with data at or after `from`; begin == end == size when there is none.
Result<DataRange> next_data(const Fd& fd, off_t from, off_t size) {
  const off_t begin = ::lseek(fd.get(), from, SEEK_DATA);
  if (begin < 0 && errno == ENXIO) return DataRange{size, size};
  if (begin < 0 && errno == EINVAL) return DataRange{from, size};  // knows no holes: all is data
  if (begin < 0) return Error::from_errno("lseek");
  const off_t end = ::lseek(fd.get(), begin, SEEK_HOLE);
  if (end < 0) return Error::from_errno("lseek");
  return DataRange{std::min(begin, size), std::min(end, size)};
}

Status copy_by_hand(const Fd& from, const Fd& to, DataRange range) {
  std::array<char, 65536> buffer{};
  while (range.begin < range.end) {
    const auto want =
        std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(range.end - range.begin));
    const ssize_t got = ::pread(from.get(), buffer.data(), want, range.begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("pread");
    if (got == 0) return {};  // it became shorter meanwhile
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::pwrite(to.get(), buffer.data() + done,
                                   static_cast<std::size_t>(got - done), range.begin + done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Error::from_errno("pwrite");
      done += put;
    }
    range.begin += got;
  }
  return {};
}

Status copy_range(const Fd& from, const Fd& to, DataRange range) {
  off_t read_at = range.begin;
  off_t write_at = range.begin;
  while (read_at < range.end) {
    const ssize_t done = ::copy_file_range(from.get(), &read_at, to.get(), &write_at,
                                           static_cast<std::size_t>(range.end - read_at), 0);
    if (done < 0 && errno == EINTR) continue;
    const bool cannot = done < 0 && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP ||
                                     errno == ENOSYS || errno == EPERM);
    if (cannot) return copy_by_hand(from, to, {read_at, range.end});
    if (done < 0) return Error::from_errno("copy_file_range");
    if (done == 0) return {};
  }
  return {};
}

}  // namespace

Status copy_contents(const Fd& from, const Fd& to) {
  struct stat status{};
  if (::fstat(from.get(), &status) != 0) return Error::from_errno("fstat");
  const off_t size = status.st_size;
  off_t at = 0;
  while (at < size) {
    TRY(const DataRange range, next_data(from, at, size));
    TRY_DO(copy_range(from, to, range));
    at = range.end;
  }
  if (::ftruncate(to.get(), size) != 0) return Error::from_errno("ftruncate");
  return {};
}

}  // namespace cordon::os
