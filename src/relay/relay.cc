// SPDX-License-Identifier: Apache-2.0
#include "relay/relay.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "frame/guest.h"
#include "os/prctl.h"
#include "os/socket.h"

namespace cordon::relay {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{128} << 10U;
// With more than this waiting for one side, the other is not heard until it has been taken.
constexpr std::size_t kMostOwed = std::size_t{1} << 20U;
constexpr std::size_t kMostWords = 2048;
// An engine that has ended: how long its last bytes wait for a host that does not read.
constexpr int kLastMilliseconds = 2000;

// Whole frames on their way to one side.
class Owed {
 public:
  bool empty() const noexcept { return sent_ == bytes_.size(); }
  bool is_full() const noexcept { return bytes_.size() - sent_ >= kMostOwed; }
  void add(std::span<const std::byte> framed) {
    if (sent_ >= kMostOwed) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(sent_));
      sent_ = 0;
    }
    bytes_.insert(bytes_.end(), framed.begin(), framed.end());
  }
  void add_body(std::span<const std::byte> body) {
    const auto length = static_cast<std::uint32_t>(body.size());
    add(std::as_bytes(std::span{&length, 1}));
    add(body);
  }
  void clear() {
    bytes_ = std::vector<std::byte>{};
    sent_ = 0;
  }
  std::span<const std::byte> rest() const { return std::span{bytes_}.subspan(sent_); }
  void took(std::size_t count) {
    sent_ += count;
    if (empty()) clear();
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
};

class Relay {
 public:
  explicit Relay(Ends ends) : ends_{std::move(ends)} {}

  RelayEnd run();

 private:
  // control, to the guest, from the guest, words, the engine's end
  using Watched = std::array<pollfd, 5>;
  Watched watched() const;
  // Each gives an end where there is one.
  std::optional<RelayEnd> serve(const Watched& ready);
  std::optional<RelayEnd> hear_host();
  std::optional<RelayEnd> hear_guest();
  void hear_words();
  void switch_host(os::Fd control);
  bool passes(std::span<const std::byte> body);
  void write_host();
  Status write_guest();
  void finish();

  Ends ends_;
  frame::FrameCutter from_host_;
  frame::FrameCutter from_guest_;
  Owed to_host_;
  Owed to_guest_;
  std::string words_;
  bool has_begun_ = false;     // the guest has said something
  bool awaits_hello_ = false;  // what it said to an earlier host is for nobody
};

// On a new stream nothing is half sent, in neither direction: what was not sent whole to the guest
// has not begun, because frames are kept here until they are whole.
void Relay::switch_host(os::Fd control) {
  ends_.control = std::move(control);
  static_cast<void>(os::set_nonblocking(ends_.control, true));
  from_host_ = frame::FrameCutter{};
  to_host_.clear();
  to_guest_.add(encode(frame::ToGuest{frame::Resume{}}));
  awaits_hello_ = true;
}

std::optional<RelayEnd> Relay::hear_host() {
  std::vector<std::byte> buffer(kPieceBytes);
  auto got = os::receive(ends_.control, buffer, 1);
  if (!got && os::would_wait(got.error())) return std::nullopt;
  if (!got || got->bytes == 0) return RelayEnd::host_gone;
  if (!got->fds.empty()) {
    switch_host(std::move(got->fds.front()));
    return std::nullopt;
  }
  from_host_.push(std::span{buffer}.first(got->bytes));
  while (true) {
    const auto next = from_host_.next();
    const auto body = next ? *next : std::nullopt;
    if (!next) return RelayEnd::protocol_error;
    if (!body) return std::nullopt;
    to_guest_.add_body(*body);
  }
}

bool Relay::passes(std::span<const std::byte> body) {
  // From here on the end of the stream is our end, and the launcher's own is not.
  if (!std::exchange(has_begun_, true)) static_cast<void>(os::set_parent_death_signal(0));
  if (!awaits_hello_) return true;
  const auto said = frame::decode_from_guest(body);
  awaits_hello_ = !said || !std::holds_alternative<frame::Hello>(*said);
  return !awaits_hello_;
}

std::optional<RelayEnd> Relay::hear_guest() {
  std::vector<std::byte> buffer(kPieceBytes);
  const ssize_t got = ::read(ends_.from_guest.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got <= 0) return RelayEnd::engine_ended;
  from_guest_.push(std::span{buffer}.first(static_cast<std::size_t>(got)));
  while (true) {
    const auto next = from_guest_.next();
    const auto body = next ? *next : std::nullopt;
    if (!next) return RelayEnd::protocol_error;
    if (!body) return std::nullopt;
    if (passes(*body)) to_host_.add_body(*body);
  }
}

// The last of them are kept.
void Relay::hear_words() {
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(ends_.words.get(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    ends_.words = os::Fd{};
    return;
  }
  words_.append(piece.data(), static_cast<std::size_t>(got));
  if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
}

// Where nobody is there any more reading finds it out, and whether another comes.
void Relay::write_host() {
  while (!to_host_.empty()) {
    const auto rest = to_host_.rest();
    const auto sent = os::send(ends_.control, rest.first(std::min(rest.size(), kPieceBytes)));
    if (!sent) return;
    to_host_.took(*sent);
  }
}

Status Relay::write_guest() {
  while (!to_guest_.empty()) {
    const auto rest = to_guest_.rest();
    const ssize_t sent = ::write(ends_.to_guest.get(), rest.data(), rest.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return {};
    if (sent < 0) return Error::from_errno("write");
    to_guest_.took(static_cast<std::size_t>(sent));
  }
  return {};
}

// The engine has ended: what is left of its bytes, and of its words.
void Relay::finish() {
  while (!hear_guest()) {
    pollfd more{.fd = ends_.from_guest.get(), .events = POLLIN, .revents = 0};
    if (::poll(&more, 1, 0) <= 0) break;
  }
  if (!has_begun_) {
    if (ends_.words) hear_words();
    to_host_.add(encode(frame::FromGuest{
        frame::Failed{.process = 0, .step = "engine: " + words_, .error_number = 0}}));
  }
  pollfd room{.fd = ends_.control.get(), .events = POLLOUT, .revents = 0};
  while (!to_host_.empty() && ::poll(&room, 1, kLastMilliseconds) > 0 &&
         (room.revents & (POLLERR | POLLHUP)) == 0) {
    write_host();
  }
}

Relay::Watched Relay::watched() const {
  const auto when = [](bool wanted, short events) { return wanted ? events : short{0}; };
  const auto from_host =
      static_cast<short>(when(!to_guest_.is_full(), POLLIN) | when(!to_host_.empty(), POLLOUT));
  return {{
      {ends_.control.get(), from_host, 0},
      {to_guest_.empty() ? -1 : ends_.to_guest.get(), POLLOUT, 0},
      {to_host_.is_full() ? -1 : ends_.from_guest.get(), POLLIN, 0},
      {ends_.words ? ends_.words.get() : -1, POLLIN, 0},
      {ends_.engine.get(), POLLIN, 0},
  }};
}

std::optional<RelayEnd> Relay::serve(const Watched& ready) {
  std::optional<RelayEnd> end;
  if ((ready[0].revents & ~POLLOUT) != 0) end = hear_host();
  if (!end && ready[2].revents != 0) end = hear_guest();
  if (ready[3].revents != 0) hear_words();
  if (!end && ready[4].revents != 0) end = RelayEnd::engine_ended;
  if (!end && !write_guest()) end = RelayEnd::engine_ended;
  if (!end) write_host();
  return end;
}

RelayEnd Relay::run() {
  while (true) {
    Watched ready = watched();
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return RelayEnd::protocol_error;
    }
    const auto end = serve(ready);
    if (end == RelayEnd::engine_ended) finish();
    if (end) return *end;
  }
}

}  // namespace

RelayEnd carry(Ends ends) { return Relay{std::move(ends)}.run(); }

}  // namespace cordon::relay
