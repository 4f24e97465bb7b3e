// SPDX-License-Identifier: Apache-2.0
#include "guest/watches.h"

#include <cerrno>
#include <optional>
#include <unistd.h>
#include <utility>
#include <variant>

#include "guest/process.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

constexpr std::size_t kWatchAtOnce = std::size_t{32} << 10U;
// 256 events with the longest paths there are.
constexpr std::size_t kLongestFrame = frame::kLongestGuestFrame;

// With the number that the host knows it by; nothing for what no watch says.
std::optional<frame::FromGuest> as_of(std::uint32_t number, std::span<const std::byte> body) {
  auto decoded = frame::decode_from_guest(body);
  if (!decoded) return std::nullopt;
  return std::visit(
      [number](auto& frame) -> std::optional<frame::FromGuest> {
        if constexpr (requires { frame.watch; }) {
          frame.watch = number;
          return std::move(frame);
        } else {
          return std::nullopt;
        }
      },
      *decoded);
}

}  // namespace

Result<os::Fd> Watches::begin(const os::Epoll& epoll, std::uint32_t number) {
  if (watches_.contains(number)) return Error{Errc::invalid, "a watch number that is taken"};
  if (watches_.size() >= frame::kMostWatches) return Error::from_errno("watches", EAGAIN);
  TRY(os::Pipe pipe, os::pipe2());
  TRY_DO(os::set_nonblocking(pipe.read, true));
  if (!paused_) TRY_DO(epoll.add(pipe.read, EPOLLIN, tag_of(Role::watch, number)));
  watches_.emplace(
      number, Watch{.pipe = std::move(pipe.read), .cutter = frame::FrameCutter{kLongestFrame}});
  return std::move(pipe.write);
}

std::vector<frame::FromGuest> Watches::hear(const os::Epoll& epoll, std::uint32_t number) {
  std::vector<frame::FromGuest> said;
  const auto found = watches_.find(number);
  if (found == watches_.end()) return said;
  std::vector<std::byte> buffer(kWatchAtOnce);
  const ssize_t count = ::read(found->second.pipe.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return said;
  bool over = count <= 0;
  if (!over) found->second.cutter.push(std::span{buffer}.first(static_cast<std::size_t>(count)));
  while (!over) {
    const auto next = found->second.cutter.next();
    const auto body = next ? *next : std::nullopt;
    if (next && !body) return said;
    auto frame = body ? as_of(number, *body) : std::nullopt;
    over = !frame || std::holds_alternative<frame::WatchEnded>(*frame);
    if (frame) said.push_back(*std::move(frame));
  }
  // Without a last word: it was killed, or is not what it should be.
  if (said.empty() || !std::holds_alternative<frame::WatchEnded>(said.back())) {
    said.emplace_back(frame::WatchEnded{.watch = number, .error_number = EIO});
  }
  stop(epoll, number);
  return said;
}

void Watches::stop(const os::Epoll& epoll, std::uint32_t number) {
  const auto found = watches_.find(number);
  if (found == watches_.end()) return;
  if (!paused_) static_cast<void>(epoll.remove(found->second.pipe));
  watches_.erase(found);
}

void Watches::stop_all(const os::Epoll& epoll) {
  while (!watches_.empty()) stop(epoll, watches_.begin()->first);
}

void Watches::pause(const os::Epoll& epoll, bool paused) {
  if (std::exchange(paused_, paused) == paused) return;
  for (const auto& [number, watch] : watches_) {
    static_cast<void>(paused ? epoll.remove(watch.pipe)
                             : epoll.add(watch.pipe, EPOLLIN, tag_of(Role::watch, number)));
  }
}

}  // namespace cordon::guest
