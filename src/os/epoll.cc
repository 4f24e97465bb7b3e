// SPDX-License-Identifier: Apache-2.0
// The epoll calls.
#include "os/epoll.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include <climits>

namespace cordon::os {
namespace {

Status control(const Fd& epoll, int operation, const Fd& fd, std::uint32_t events,
               std::uint64_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  if (::epoll_ctl(epoll.get(), operation, fd.get(), &event) != 0) {
    return Error::from_errno("epoll_ctl").with("fd " + std::to_string(fd.get()));
  }
  return {};
}

}  // namespace

Result<Epoll> Epoll::create() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) return Error::from_errno("epoll_create1");
  return Epoll{Fd{fd}};
}

Status Epoll::add(const Fd& fd, std::uint32_t events, std::uint64_t tag) const {
  return control(fd_, EPOLL_CTL_ADD, fd, events, tag);
}

Status Epoll::modify(const Fd& fd, std::uint32_t events, std::uint64_t tag) const {
  return control(fd_, EPOLL_CTL_MOD, fd, events, tag);
}

Status Epoll::remove(const Fd& fd) const { return control(fd_, EPOLL_CTL_DEL, fd, 0, 0); }

Result<std::vector<EpollEvent>> Epoll::wait(std::optional<std::chrono::milliseconds> limit) const {
  std::array<epoll_event, 64> raw{};
  const auto milliseconds =
      limit ? static_cast<int>(std::clamp<std::int64_t>(limit->count(), 0, INT_MAX)) : -1;
  const int count = ::epoll_wait(fd_.get(), raw.data(), static_cast<int>(raw.size()), milliseconds);
  if (count < 0 && errno != EINTR) return Error::from_errno("epoll_wait");
  std::vector<EpollEvent> ready;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = raw[static_cast<std::size_t>(i)];
    ready.push_back({.tag = event.data.u64, .events = event.events});
  }
  return ready;
}

}  // namespace cordon::os
