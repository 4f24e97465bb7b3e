// SPDX-License-Identifier: Apache-2.0
#include "guest/machine_recorder.h"

#include <chrono>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "frame/launcher.h"
#include "os/cgroup_number.h"
#include "os/socket.h"
#include "os/spawn.h"
#include "recorder/kernel/layout.h"
#include "recorder/take_parts.h"

namespace cordon::guest {
namespace {

using namespace std::string_view_literals;

constexpr const char* kProgram = "/recorder";
// A translated processor takes a second for it.
constexpr std::chrono::seconds kLongestLoad{30};
// The host counts again, by the classes that were asked for.
constexpr std::uint64_t kPerSecond = 10'000;
constexpr std::uint32_t kEverything =
    CORDON_EXEC | CORDON_WRITES | CORDON_CONNECTS | CORDON_SENSITIVE | CORDON_REFUSED;

// What a spawner does before it becomes a program is no program's act. One that calls itself as we
// do hides this, and nothing else.
bool is_of_a_spawner(std::span<const std::byte> bytes) {
  constexpr std::string_view kOwn{"/proc/self/oom_score_adj\0", 25};
  cordon_event event{};
  if (bytes.size() < sizeof event) return false;
  std::memcpy(&event, bytes.data(), sizeof event);
  return event.kind == CORDON_KIND_FILE && std::string_view{event.command, 5} == "init\0"sv &&
         as_text(bytes.subspan(sizeof event)).starts_with(kOwn);
}

}  // namespace

Result<MachineRecorder> MachineRecorder::load() {
  TRY(os::SocketPair link, os::socketpair(os::SocketType::seqpacket));
  const os::Fd* const socket = &link.two;
  TRY(os::Child child, os::spawn(kProgram, {"cordon-bpf", "machine"}, {}, {&socket, 1}));
  link.two = os::Fd{};
  TRY(auto parts, recorder::take_parts(link.one, frame::kRecorderParts, kLongestLoad));
  TRY_DO(std::move(child).wait());
  TRY(auto table, recorder::WatchTable::open(parts[0]));
  TRY(auto ring, recorder::EventRing::open(parts[1], CORDON_SMALL_RING_BYTES));
  return MachineRecorder{std::move(parts), std::move(table), std::move(ring)};
}

Status MachineRecorder::watch(const std::string& group) {
  const auto number = os::cgroup_number({&group, 1});
  if (!number) return Error{Errc::unavailable, "no control group to be watched"};
  group_ = *number;
  return table_.watch(group_, {.tag = 0, .classes = kEverything, .per_second = kPerSecond});
}

std::optional<frame::Traced> MachineRecorder::take() {
  frame::Traced traced;
  ring_.read(frame::kMostTracedActs, [&traced](std::span<const std::byte> event) {
    if (!is_of_a_spawner(event)) traced.events.emplace_back(as_text(event));
  });
  const recorder::Untold now = table_.untold(group_);
  traced.lost = static_cast<std::uint32_t>(now.lost + now.over - told_.lost - told_.over);
  told_ = now;
  if (traced.events.empty() && traced.lost == 0) return std::nullopt;
  return traced;
}

}  // namespace cordon::guest
