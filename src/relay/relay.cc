// SPDX-License-Identifier: Apache-2.0
#include "relay/relay.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
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
#include "frame/owed.h"
#include "os/prctl.h"
#include "os/socket.h"
#include "relay/qmp.h"
#include "relay/tracer.h"

namespace cordon::relay {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{128} << 10U;
// So much more may wait of what an engine tells, so that no flood of output keeps it from being
// told.
constexpr std::size_t kMostTraceOwed = std::size_t{4} << 20U;
// Turns in which all is heard that was told before what the guest says.
constexpr int kMostTraceTurns = 16;
constexpr std::size_t kMostWords = 2048;
// An engine that has ended: how long its last bytes wait for a host that does not read.
constexpr int kLastMilliseconds = 2000;

class Relay {
 public:
  Relay(Ends ends, MachineTask task)
      : ends_{std::move(ends)}, tracer_{std::move(ends_.trace)}, task_{task} {}

  RelayEnd run();

 private:
  // control, to the guest, from the guest, words, the engine's end, its trace
  using Watched = std::array<pollfd, 6>;
  Watched watched() const;
  // Each gives an end where there is one.
  std::optional<RelayEnd> serve(const Watched& ready);
  std::optional<RelayEnd> hear_host();
  std::optional<RelayEnd> hear_guest();
  void hear_words();
  enum class Pass : bool { gathered, at_once };
  void hear_trace(Pass pass);
  void pass_trace();
  // As a machine has told it.
  Status pass_told(std::span<const std::byte> body);
  // Whatever had been done by now is told, or counted.
  void settle_trace();
  void switch_host(os::Fd control);
  bool passes(std::span<const std::byte> body);
  bool holds_back(std::span<const std::byte> body);
  void tell_time();
  Status save();
  Status load();
  void write_host();
  Status write_guest();
  void finish();

  Ends ends_;
  frame::FrameCutter from_host_;
  frame::FrameCutter from_guest_;
  frame::Owed to_host_;
  frame::Owed to_guest_;
  Tracer tracer_;
  Tracer::Untold trace_owed_;  // what it will not know if its stream is exchanged now
  std::string words_;
  bool has_begun_ = false;     // the guest has said something
  bool awaits_hello_ = false;  // what it said to an earlier host is for nobody
  bool has_heard_host_ = false;
  bool awaits_ready_ = false;  // of a machine
  // Of one that is not ready for it: it is told the time when it can hear it, and everything else
  // after that. Who will be saved is never told, and hears everything else.
  std::optional<frame::Wake> wake_;
  MachineTask task_;
  std::optional<RelayEnd> end_;
};

// On a new stream nothing is half sent, in neither direction: what was not sent whole to the guest
// has not begun, because frames are kept here until they are whole.
void Relay::switch_host(os::Fd control) {
  ends_.control = std::move(control);
  static_cast<void>(os::set_nonblocking(ends_.control, true));
  from_host_ = frame::FrameCutter{};
  to_host_.clear();
  tracer_.lose(std::exchange(trace_owed_, {}));
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
    if (!holds_back(*body)) to_guest_.add_body(*body);
  }
}

bool Relay::holds_back(std::span<const std::byte> body) {
  if (std::exchange(has_heard_host_, true)) return false;
  auto said = frame::decode_to_guest(body);
  auto* const wake = said ? std::get_if<frame::Wake>(&*said) : nullptr;
  if (wake == nullptr) return false;
  awaits_ready_ = true;
  if (task_ == MachineTask::save) return true;
  wake_ = std::move(*wake);
  // One that was loaded was ready when it was saved.
  if (task_ == MachineTask::load) tell_time();
  return true;
}

Status Relay::save() {
  Qmp qmp{ends_.monitor};
  TRY_DO(qmp.begin());
  return save_machine(qmp, ends_.state);
}

Status Relay::load() {
  Qmp qmp{ends_.monitor};
  return load_machine(qmp, ends_.state);
}

void Relay::tell_time() {
  if (!wake_) return;
  awaits_ready_ = false;
  frame::Wake wake = *std::move(wake_);
  wake_.reset();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  wake.clock =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  frame::Owed first;
  first.add(encode(frame::ToGuest{std::move(wake)}));
  first.add(to_guest_.rest());
  to_guest_ = std::move(first);
}

bool Relay::passes(std::span<const std::byte> body) {
  if (awaits_ready_) {
    const auto ready = frame::decode_from_guest(body);
    if (ready && std::holds_alternative<frame::Ready>(*ready)) {
      if (task_ == MachineTask::save) {
        end_ = save() ? RelayEnd::saved : RelayEnd::protocol_error;
      } else {
        tell_time();
      }
      return false;
    }
  }
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
    if (frame::is_a<frame::Traced>(*body)) {
      // What programs do is told by who stands outside of them, and by nobody else: of a machine
      // that is its own pid 1.
      if (task_ == MachineTask::none || !pass_told(*body)) return RelayEnd::protocol_error;
      continue;
    }
    if (frame::is_a<frame::Exited>(*body)) settle_trace();
    if (passes(*body)) to_host_.add_body(*body);
  }
}

Status Relay::pass_told(std::span<const std::byte> body) {
  TRY(const frame::FromGuest said, frame::decode_from_guest(body));
  const auto* const told = std::get_if<frame::Traced>(&said);
  if (told == nullptr) return Error{Errc::invalid, "no acts"};
  const Tracer::Untold owed{.lost = told->acts.size() + told->events.size() + told->lost,
                            .unnamed = told->unnamed};
  if (awaits_hello_) {
    tracer_.lose(owed);
    return {};
  }
  trace_owed_.lost += owed.lost;
  trace_owed_.unnamed += owed.unnamed;
  to_host_.add_body(body);
  return {};
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

void Relay::pass_trace() {
  auto traced = tracer_.take();
  if (!traced) return;
  const Tracer::Untold owed{.lost = traced->acts.size() + traced->lost, .unnamed = traced->unnamed};
  if (to_host_.has_at_least(frame::kMostOwed + kMostTraceOwed)) return tracer_.lose(owed);
  trace_owed_.lost += owed.lost;
  trace_owed_.unnamed += owed.unnamed;
  to_host_.add(encode(frame::FromGuest{*std::move(traced)}));
}

void Relay::hear_trace(Pass pass) {
  bool is_more = true;
  for (int turn = 0; is_more && turn < kMostTraceTurns; ++turn) {
    is_more = tracer_.hear();
    if (is_more || tracer_.is_due() || pass == Pass::at_once) pass_trace();
  }
}

// After the last process of a run the host may end the sandbox at once.
void Relay::settle_trace() {
  if (awaits_hello_) return;
  tracer_.settle();
  pass_trace();
}

// Where nobody is there any more reading finds it out, and whether another comes.
void Relay::write_host() {
  while (!to_host_.empty()) {
    const auto rest = to_host_.rest();
    const auto sent = os::send(ends_.control, rest.first(std::min(rest.size(), kPieceBytes)));
    if (!sent) return;
    to_host_.took(*sent);
  }
  trace_owed_ = {};
}

Status Relay::write_guest() {
  while (!to_guest_.empty() && !wake_) {
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
  hear_trace(Pass::at_once);
  settle_trace();
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
      {to_guest_.empty() || wake_ ? -1 : ends_.to_guest.get(), POLLOUT, 0},
      {to_host_.is_full() ? -1 : ends_.from_guest.get(), POLLIN, 0},
      {ends_.words ? ends_.words.get() : -1, POLLIN, 0},
      {ends_.engine.get(), POLLIN, 0},
      // Its first word waits for our answer, the guest's for that.
      {awaits_hello_ ? -1 : tracer_.descriptor(), POLLIN, 0},
  }};
}

std::optional<RelayEnd> Relay::serve(const Watched& ready) {
  std::optional<RelayEnd> end;
  if ((ready[0].revents & ~POLLOUT) != 0) end = hear_host();
  // Before the guest: what it says was told of before it was said.
  if (!awaits_hello_) hear_trace(ready[2].revents != 0 ? Pass::at_once : Pass::gathered);
  if (!end && ready[2].revents != 0) end = hear_guest();
  if (ready[3].revents != 0) hear_words();
  if (!end && ready[4].revents != 0) end = RelayEnd::engine_ended;
  if (!end && !write_guest()) end = RelayEnd::engine_ended;
  if (!end) write_host();
  return end;
}

RelayEnd Relay::run() {
  if (task_ == MachineTask::load) {
    if (const Status loaded = load(); !loaded) {
      words_ += loaded.error().text();
      finish();
      return RelayEnd::engine_ended;
    }
  }
  while (true) {
    Watched ready = watched();
    if (::poll(ready.data(), ready.size(), tracer_.patience()) < 0) {
      if (errno == EINTR) continue;
      return RelayEnd::protocol_error;
    }
    const auto end = serve(ready);
    if (end_) return *end_;
    if (end == RelayEnd::engine_ended) finish();
    if (end) return *end;
  }
}

}  // namespace

RelayEnd carry(Ends ends, MachineTask task) { return Relay{std::move(ends), task}.run(); }

}  // namespace cordon::relay
