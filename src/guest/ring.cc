// SPDX-License-Identifier: Apache-2.0
#include "guest/ring.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <sys/mman.h>
#include <sys/uio.h>
#include <utility>

#include "os/socket.h"

namespace cordon::guest {
namespace {

// One read takes no more, so that no stream holds the others up.
constexpr std::size_t kMostAtOnce = std::size_t{64} << 10U;
constexpr std::size_t kFirst = std::size_t{4} << 10U;

Result<std::size_t> read_parts(const os::Fd& fd, std::span<const iovec> parts) {
  ssize_t got = 0;
  do {
    got = ::readv(fd.get(), parts.data(), static_cast<int>(parts.size()));
  } while (got < 0 && errno == EINTR);
  // EIO is how a terminal says that nobody has it open any more. Whatever else fails has bytes left
  // that nobody would miss: better that the sandbox ends than that its output is cut without a
  // word.
  if (got < 0 && errno == EIO) return 0U;
  if (got < 0) return Error::from_errno("readv");
  return static_cast<std::size_t>(got);
}

}  // namespace

Ring::Ring(Ring&& other) noexcept
    : capacity_{other.capacity_},
      memory_{std::exchange(other.memory_, nullptr)},
      begin_{other.begin_},
      end_{other.end_} {}

Ring::~Ring() {
  if (memory_ != nullptr) ::munmap(memory_, capacity_);
}

Status Ring::map() {
  void* mapped = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return Error::from_errno("mmap of a ring");
  memory_ = static_cast<std::byte*>(mapped);
  // A spawner made later must not carry what other processes wrote.
  ::madvise(mapped, capacity_, MADV_DONTFORK);
  return {};
}

// Most streams end without a byte: they get no memory for that.
Result<Ring::Read> Ring::read_first(const os::Fd& fd) {
  std::array<std::byte, kFirst> bytes;  // NOLINT(*-member-init): filled as they come
  const iovec part{.iov_base = bytes.data(), .iov_len = std::min(bytes.size(), capacity_)};
  const auto got = read_parts(fd, {&part, 1});
  if (!got) return os::would_wait(got.error()) ? Result<Read>{Read::nothing_now} : got.error();
  if (*got == 0) return Read::ended;
  TRY_DO(map());
  std::copy_n(bytes.begin(), *got, memory_);
  end_ += *got;
  return Read::some;
}

Result<Ring::Read> Ring::read_from(const os::Fd& fd) {
  if (memory_ == nullptr) return read_first(fd);
  const std::size_t at = end_ % capacity_;
  const std::size_t room =
      std::min(capacity_ - static_cast<std::size_t>(end_ - begin_), kMostAtOnce);
  const std::size_t straight = std::min(room, capacity_ - at);
  const std::array<iovec, 2> parts{{{.iov_base = memory_ + at, .iov_len = straight},
                                    {.iov_base = memory_, .iov_len = room - straight}}};
  const auto got = read_parts(fd, std::span{parts}.first(room > straight ? 2 : 1));
  if (!got) return os::would_wait(got.error()) ? Result<Read>{Read::nothing_now} : got.error();
  if (*got == 0) return Read::ended;
  end_ += *got;
  return Read::some;
}

void Ring::copy_to(std::vector<std::byte>& out, std::uint64_t offset, std::size_t count) const {
  const std::size_t at = offset % capacity_;
  const std::size_t straight = std::min(count, capacity_ - at);
  const std::span<const std::byte> memory{memory_, capacity_};
  const auto first = memory.subspan(at, straight);
  const auto second = memory.first(count - straight);
  out.insert(out.end(), first.begin(), first.end());
  out.insert(out.end(), second.begin(), second.end());
}

bool Ring::acknowledge(std::uint64_t offset) noexcept {
  if (offset > end_) return false;
  begin_ = std::max(begin_, offset);
  if (begin_ == end_ && memory_ != nullptr) ::madvise(memory_, capacity_, MADV_DONTNEED);
  return true;
}

}  // namespace cordon::guest
