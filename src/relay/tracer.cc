// SPDX-License-Identifier: Apache-2.0
#include "relay/tracer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/accept.h"
#include "os/socket.h"

namespace cordon::relay {
namespace {

// The longest message that a socket of the engine's takes is shorter.
constexpr std::size_t kLongestPacket = std::size_t{256} << 10U;
// A frame of so many, and one act more, is a whole frame.
constexpr std::size_t kMostBytes = std::size_t{512} << 10U;
// Packets of one turn, whatever they are of.
constexpr std::size_t kMostPackets = 1024;
// In which acts gather, and after which it is asked for names that do not come.
constexpr int kGather = 4;
constexpr int kAskAgain = 500;
// cordon-init: its own acts are no program's.
constexpr std::uint32_t kInit = 1;

// Nor is what a spawner does before it becomes one. Only this is passed over, and not all that
// comes before an exec, because an exec with an argument that cannot be told is not heard.
bool is_of_a_spawner(const frame::TracedAct& act, const Family::Member& member) {
  return act.kind == frame::TracedKind::open && member.command.empty() &&
         act.path == "/proc/self/oom_score_adj";
}

std::size_t size_of(const frame::TracedAct& act) {
  std::size_t size = 64 + act.command.size() + act.directory.size() + act.path.size() +
                     act.base.size() + act.arguments.size() * 4;
  for (const std::string& argument : act.arguments) size += argument.size();
  return size;
}

// What a frame has no room for waits for the next.
std::uint32_t take_some(std::uint64_t& count) {
  const auto some = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
  count -= some;
  return some;
}

}  // namespace

int Tracer::descriptor() const noexcept {
  if (peer_) return peer_.get();
  return listener_ ? listener_.get() : -1;
}

int Tracer::patience() const noexcept {
  if (!acts_.empty()) return kGather;
  return unnamed_.is_waiting() ? kAskAgain : -1;
}

bool Tracer::is_due() const {
  const auto gathered = std::chrono::steady_clock::now() - since_;
  return acts_.empty() || gathered >= std::chrono::milliseconds{kGather};
}

void Tracer::welcome() {
  auto arrival = os::accept_now(listener_);
  if (!arrival) return;
  peer_ = std::move(arrival->socket);
  listener_ = os::Fd{};
}

void Tracer::shake_hands(std::span<const std::byte> packet) {
  is_known_ = check_handshake(packet) && os::send(peer_, kHandshake);
  if (!is_known_) peer_ = os::Fd{};
}

bool Tracer::hear() {
  if (listener_ && !peer_) welcome();
  if (peer_ && room_.empty()) room_.resize(kLongestPacket);
  unnamed_.give_up(std::chrono::steady_clock::now());
  for (std::size_t packets = 0; peer_; ++packets) {
    if (packets == kMostPackets || bytes_ >= kMostBytes || acts_.size() == frame::kMostTracedActs) {
      return true;
    }
    const auto got = os::receive_now(peer_, room_);
    if (!got && os::would_wait(got.error())) return false;
    if (got && got->bytes == 0) peer_ = os::Fd{};
    if (!got) {
      // Longer than any of its own, or its end in disorder; the next one tells which.
      ++untold_.lost;
      if (got.error().code() != Errc::invalid) peer_ = os::Fd{};
    } else if (got->bytes > 0) {
      note(std::span{room_}.first(got->bytes));
    }
  }
  return false;
}

// It counts from its beginning, and over 2^32.
void Tracer::note_dropped(std::uint32_t dropped) {
  untold_.lost += static_cast<std::uint32_t>(dropped - dropped_);
  dropped_ = dropped;
}

void Tracer::note(std::span<const std::byte> packet) {
  if (!is_known_) return shake_hands(packet);
  auto read = read_trace_packet(packet);
  if (!read) {
    ++untold_.lost;
    return;
  }
  note_dropped(read->dropped);
  if (const auto* clone = std::get_if<TracedClone>(&read->what)) {
    family_.born(clone->made, clone->by);
  } else if (const auto* end = std::get_if<TracedEnd>(&read->what)) {
    family_.ended(end->pid);
  } else if (const auto* number = std::get_if<TracedNumber>(&read->what)) {
    unnamed_.called(*number, std::chrono::steady_clock::now());
  } else if (auto* act = std::get_if<frame::TracedAct>(&read->what)) {
    note_act(std::move(*act));
  }
}

void Tracer::note_act(frame::TracedAct act) {
  if (!is_told(act.kind, act.error_number, act.flags)) return;
  if (act.kind != frame::TracedKind::connect) unnamed_.named(act);
  if (act.pid == kInit) return;
  if (act.kind == frame::TracedKind::exec && act.error_number == 0) {
    family_.runs(act.pid, act.path);
  }
  const Family::Member& member = family_.about(act.pid);
  if (is_of_a_spawner(act, member)) return;
  act.parent = member.parent;
  act.command = member.command;
  if (acts_.empty()) since_ = std::chrono::steady_clock::now();
  bytes_ += size_of(act);
  acts_.push_back(std::move(act));
}

void Tracer::lose(const Untold& untold) noexcept {
  untold_.lost += untold.lost;
  untold_.unnamed += untold.unnamed;
}

std::optional<frame::Traced> Tracer::take() {
  untold_.unnamed += unnamed_.take();
  bytes_ = 0;
  if (acts_.empty() && untold_.lost == 0 && untold_.unnamed == 0) return std::nullopt;
  return frame::Traced{.acts = std::exchange(acts_, {}),
                       .lost = take_some(untold_.lost),
                       .unnamed = take_some(untold_.unnamed)};
}

}  // namespace cordon::relay
