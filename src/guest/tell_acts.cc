// SPDX-License-Identifier: Apache-2.0
#include "guest/tell_acts.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <vector>

#include "frame/guest.h"

namespace cordon::guest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTellPiece = std::size_t{64} << 10U;
// So much waits for the port: whoever has more to say waits, and the ring counts what it has no
// room for.
constexpr std::size_t kMostBeforePort = std::size_t{256} << 10U;
// In which acts gather: a frame costs more than an act.
constexpr std::chrono::milliseconds kGather{20};
constexpr int kLastPatience = 2000;

// Bytes on their way to a descriptor that does not block.
class Waiting {
 public:
  bool empty() const noexcept { return sent_ == bytes_.size(); }
  bool is_full() const noexcept { return bytes_.size() - sent_ >= kMostBeforePort; }
  std::vector<std::byte>& room() noexcept { return bytes_; }

  Status send_to(const os::Fd& to) {
    while (!empty()) {
      const ssize_t part = ::write(to.get(), bytes_.data() + sent_, bytes_.size() - sent_);
      if (part < 0 && errno == EINTR) continue;
      if (part < 0 && errno == EAGAIN) return {};
      if (part < 0) return Error::from_errno("write");
      sent_ += static_cast<std::size_t>(part);
    }
    bytes_.clear();
    sent_ = 0;
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

class Teller {
 public:
  Teller(MachineRecorder& recorder, const os::Fd& guest, const os::Fd& port)
      : recorder_{recorder}, guest_{guest}, port_{port}, piece_(kTellPiece) {}

  Status run();

 private:
  Status turn();
  Status hear_port();
  Status hear_guest();
  void tell_what_was_done();
  void finish();

  MachineRecorder& recorder_;
  const os::Fd& guest_;
  const os::Fd& port_;
  std::vector<std::byte> piece_;  // made once: clearing it takes a translated machine long
  Waiting to_port_;
  Waiting to_guest_;
  frame::FrameCutter from_guest_;
  std::optional<Clock::time_point> due_;  // when acts that are there are told
  bool has_ended_ = false;                // the guest
};

void Teller::tell_what_was_done() {
  due_.reset();
  while (!to_port_.is_full()) {
    auto traced = recorder_.take();
    if (!traced) return;
    frame::append(to_port_.room(), frame::FromGuest{*std::move(traced)});
  }
}

Status Teller::hear_port() {
  const ssize_t got = ::read(port_.get(), piece_.data(), piece_.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (got <= 0) return Error{Errc::unavailable, "nobody is at the port"};
  auto& room = to_guest_.room();
  room.insert(room.end(), piece_.begin(), piece_.begin() + got);
  return {};
}

Status Teller::hear_guest() {
  const ssize_t got = ::read(guest_.get(), piece_.data(), piece_.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (got <= 0) {
    has_ended_ = true;
    return {};
  }
  // Of each of them the guest learned before it said this.
  tell_what_was_done();
  from_guest_.push(std::span{piece_}.first(static_cast<std::size_t>(got)));
  while (true) {
    TRY(const auto body, from_guest_.next());
    if (!body) return {};
    TRY(const auto said, frame::decode_from_guest(*body));
    if (std::holds_alternative<frame::Traced>(said)) return Error{Errc::invalid, "acts of a guest"};
    frame::append(to_port_.room(), said);
  }
}

Status Teller::turn() {
  const auto when = [](bool wanted, const os::Fd& fd) { return wanted ? fd.get() : -1; };
  const auto port_events =
      static_cast<short>((to_guest_.is_full() ? 0 : POLLIN) | (to_port_.empty() ? 0 : POLLOUT));
  const auto guest_events =
      static_cast<short>((to_port_.is_full() ? 0 : POLLIN) | (to_guest_.empty() ? 0 : POLLOUT));
  std::array<pollfd, 3> ready{{{.fd = port_.get(), .events = port_events, .revents = 0},
                               {.fd = guest_.get(), .events = guest_events, .revents = 0},
                               {.fd = when(!due_ && !to_port_.is_full(), recorder_.news()),
                                .events = POLLIN,
                                .revents = 0}}};
  const int patience = due_ ? static_cast<int>(kGather.count()) : -1;
  if (::poll(ready.data(), ready.size(), patience) < 0 && errno != EINTR) {
    return Error::from_errno("poll");
  }
  if (ready[2].revents != 0) due_ = Clock::now() + kGather;
  if (due_ && Clock::now() >= *due_) tell_what_was_done();
  if ((ready[0].revents & ~POLLOUT) != 0) TRY_DO(hear_port());
  if ((ready[1].revents & ~POLLOUT) != 0 && !to_port_.is_full()) TRY_DO(hear_guest());
  // To one that has gone: its end is heard, and ends this.
  static_cast<void>(to_guest_.send_to(guest_));
  return to_port_.send_to(port_);
}

void Teller::finish() {
  pollfd room{.fd = port_.get(), .events = POLLOUT, .revents = 0};
  do {
    tell_what_was_done();
    if (!to_port_.send_to(port_)) return;
  } while (!to_port_.empty() && ::poll(&room, 1, kLastPatience) > 0);
}

Status Teller::run() {
  while (!has_ended_) TRY_DO(turn());
  finish();
  return {};
}

}  // namespace

Status tell_acts(MachineRecorder& recorder, const os::Fd& guest, const os::Fd& port) {
  return Teller{recorder, guest, port}.run();
}

}  // namespace cordon::guest
