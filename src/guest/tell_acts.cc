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
#include "frame/owed.h"

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

bool is_full(const frame::Owed& owed) { return owed.has_at_least(kMostBeforePort); }

Status send(frame::Owed& owed, const os::Fd& to) {
  while (!owed.empty()) {
    const auto rest = owed.rest();
    const ssize_t part = ::write(to.get(), rest.data(), rest.size());
    if (part < 0 && errno == EINTR) continue;
    if (part < 0 && errno == EAGAIN) return {};
    if (part < 0) return Error::from_errno("write");
    owed.took(static_cast<std::size_t>(part));
  }
  return {};
}

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
  frame::Owed to_port_;
  frame::Owed to_guest_;
  frame::FrameCutter from_guest_;
  std::optional<Clock::time_point> due_;  // when acts that are there are told
  bool has_ended_ = false;                // the guest
};

void Teller::tell_what_was_done() {
  due_.reset();
  while (!is_full(to_port_)) {
    auto traced = recorder_.take();
    if (!traced) return;
    to_port_.add(encode(frame::FromGuest{*std::move(traced)}));
  }
}

Status Teller::hear_port() {
  const ssize_t got = ::read(port_.get(), piece_.data(), piece_.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (got <= 0) return Error{Errc::unavailable, "nobody is at the port"};
  to_guest_.add(std::span{piece_}.first(static_cast<std::size_t>(got)));
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
    if (frame::is_a<frame::Traced>(*body)) return Error{Errc::invalid, "acts of a guest"};
    to_port_.add_body(*body);
  }
}

Status Teller::turn() {
  const auto when = [](bool wanted, const os::Fd& fd) { return wanted ? fd.get() : -1; };
  const auto port_events =
      static_cast<short>((is_full(to_guest_) ? 0 : POLLIN) | (to_port_.empty() ? 0 : POLLOUT));
  const auto guest_events =
      static_cast<short>((is_full(to_port_) ? 0 : POLLIN) | (to_guest_.empty() ? 0 : POLLOUT));
  std::array<pollfd, 3> ready{{{.fd = port_.get(), .events = port_events, .revents = 0},
                               {.fd = guest_.get(), .events = guest_events, .revents = 0},
                               {.fd = when(!due_ && !is_full(to_port_), recorder_.news()),
                                .events = POLLIN,
                                .revents = 0}}};
  const int patience = due_ ? static_cast<int>(kGather.count()) : -1;
  if (::poll(ready.data(), ready.size(), patience) < 0 && errno != EINTR) {
    return Error::from_errno("poll");
  }
  if (ready[2].revents != 0) due_ = Clock::now() + kGather;
  if (due_ && Clock::now() >= *due_) tell_what_was_done();
  if ((ready[0].revents & ~POLLOUT) != 0) TRY_DO(hear_port());
  if ((ready[1].revents & ~POLLOUT) != 0 && !is_full(to_port_)) TRY_DO(hear_guest());
  // To one that has gone: its end is heard, and ends this.
  static_cast<void>(send(to_guest_, guest_));
  return send(to_port_, port_);
}

void Teller::finish() {
  pollfd room{.fd = port_.get(), .events = POLLOUT, .revents = 0};
  do {
    tell_what_was_done();
    if (!send(to_port_, port_)) return;
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
