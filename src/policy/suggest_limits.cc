// SPDX-License-Identifier: Apache-2.0
// What is suggested for the end of a run: the limit that it met, and a network that tells.
#include <algorithm>

#include <fmt/format.h>

#include "policy/checked.h"
#include "policy/suggest_parts.h"

namespace cordon::policy {
namespace {

constexpr std::uint64_t kMebi = 1U << 20U;

struct LimitKey {
  std::uint64_t most;  // no suggestion is higher: what needs more is said by a person
  std::string_view key;
  Ending ending;
  bool is_size;  // in bytes
};
constexpr LimitKey kLimitKeys[] = {
    {86'400, "resources.timeout_seconds", Ending::wall_time, false},
    {86'400, "resources.cpu_seconds", Ending::cpu_time, false},
    {16'384 * kMebi, "resources.memory_limit", Ending::memory, true},
    {8192, "resources.pids_limit", Ending::pids, false},
    {16'384 * kMebi, "resources.disk_limit", Ending::disk, true},
    {4'000'000, "resources.inodes_limit", Ending::inodes, false},
    {1024 * kMebi, "resources.output_limit", Ending::output, true},
};

std::optional<std::uint64_t> stated(Ending ending, const Limits& limits) {
  switch (ending) {
    case Ending::wall_time:
      return limits.wall_seconds;
    case Ending::cpu_time:
      return limits.cpu_seconds;
    case Ending::memory:
      return limits.memory;
    case Ending::pids:
      return limits.pids;
    case Ending::disk:
      return limits.disk;
    case Ending::inodes:
      return limits.inodes;
    case Ending::output:
      return limits.output;
    default:
      return std::nullopt;
  }
}

std::string value_text(const LimitKey& limit, std::uint64_t value) {
  if (!limit.is_size) return fmt::format("{}", value);
  return fmt::format("\"{}Mi\"", (value + kMebi - 1) / kMebi);
}

Change raise(const LimitKey& limit, std::uint64_t value, const Lesson& lesson) {
  return {Edit::set, lesson.file, std::string{limit.key}, value_text(limit, value), {}};
}

const LimitKey& memory_key() {
  return *std::ranges::find(kLimitKeys, Ending::memory, &LimitKey::ending);
}

}  // namespace

std::vector<Suggestion> limits_of(const Lesson& lesson, const Policy& policy) {
  if (!lesson.verdict) return {};
  const auto* const limit =
      std::ranges::find(kLimitKeys, lesson.verdict->ending, &LimitKey::ending);
  if (limit == std::end(kLimitKeys)) return {};
  const Limits limits = policy.settings().limits;
  const auto held = stated(limit->ending, limits);
  const std::uint64_t met = lesson.verdict->limit;
  // Raised since, or of a default that no document states.
  if (!held || *held > met) return {};
  const std::uint64_t wanted = *held * 2;
  Suggestion one{.sign = Sign::suggested,
                 .kind = "limit",
                 .what = std::string{limit->key},
                 .uses = 1,
                 .risk = "low risk",
                 .word = fmt::format("{} in place of {}", value_text(*limit, wanted),
                                     value_text(*limit, *held))};
  if (wanted > limit->most) {
    one.sign = Sign::left;
    one.risk = "by hand";
    return {one};
  }
  one.changes.push_back(raise(*limit, wanted, lesson));
  // The sandbox's own disk is in its memory.
  if (limit->ending == Ending::disk && limits.memory && *limits.memory < wanted * 2) {
    one.changes.push_back(raise(memory_key(), wanted * 2, lesson));
  }
  return {one};
}

bool needs_a_network_to_tell(const Lesson& lesson, const Policy& policy, bool has_others) {
  if (!lesson.verdict || lesson.verdict->ending != Ending::exit) return false;
  // A server ends well whatever its tools have met, so a good end alone says little.
  if (lesson.verdict->status == 0 && has_others) return false;
  return policy.documents().front()->network_mode() == NetworkMode::none;
}

Suggestion network_that_tells(const Lesson& lesson) {
  return {
      .sign = Sign::suggested,
      .kind = "net",
      .what = "no host yet",
      .uses = 1,
      .risk = "low risk",
      .word = "without a network nobody sees what it wants; this one reaches nothing, and tells",
      .changes = {{Edit::set, lesson.file, "network.mode", "\"restricted\"", {}}}};
}

}  // namespace cordon::policy
