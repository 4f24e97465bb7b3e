// SPDX-License-Identifier: Apache-2.0
// A rollout as etcd keeps it: JSON, read within bounds.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "fleet/rollout.h"
#include "fleet/value_fields.h"
#include "policy/problem.h"
#include "policy/value.h"
#include "wire/json_writer.h"

namespace cordon::fleet {
namespace {

using policy::Value;

constexpr std::int64_t kRolloutFormat = 1;
constexpr std::size_t kLongestRollout = std::size_t{64} << 10U;
constexpr std::size_t kMostCanaries = 100;
constexpr std::size_t kLongestWords = 1024;
constexpr std::int64_t kLongestSoak = 86'400;
constexpr std::int64_t kMostReleases = std::numeric_limits<std::int64_t>::max();
constexpr std::array kStages{Stage::canary, Stage::rolling, Stage::whole, Stage::stopped};

Result<Stage> stage_at(const ValueFields& of) {
  TRY(const std::string name, of.text("stage", kLongestWords));
  const auto* const found =
      std::ranges::find(kStages, name, [](Stage stage) { return to_string(stage); });
  if (found == kStages.end()) return of.wrong("stage");
  return *found;
}

Result<std::vector<NodeId>> canaries_at(const ValueFields& of) {
  const Value* const found = of.find("canaries");
  const Value::List* const list = found != nullptr ? found->list() : nullptr;
  if (list == nullptr || list->empty() || list->size() > kMostCanaries) return of.wrong("canaries");
  std::vector<NodeId> canaries;
  for (const Value& each : *list) {
    const auto node = each.text() != nullptr ? node_named(*each.text()) : std::nullopt;
    if (!node) return of.wrong("canaries");
    canaries.push_back(*node);
  }
  return canaries;
}

Result<std::vector<std::uint16_t>> cells_at(const ValueFields& of) {
  const Value* const found = of.find("cells");
  const Value::List* const list = found != nullptr ? found->list() : nullptr;
  if (list == nullptr) return of.wrong("cells");
  std::vector<std::uint16_t> cells;
  for (const Value& each : *list) {
    const std::string* const text = each.text();
    std::uint16_t cell = 0;
    const auto [end, failure] =
        text == nullptr ? std::from_chars_result{nullptr, std::errc::invalid_argument}
                        : std::from_chars(text->data(), text->data() + text->size(), cell);
    if (failure != std::errc{} || std::to_string(cell) != *text) return of.wrong("cells");
    cells.push_back(cell);
  }
  return cells;
}

}  // namespace

std::string encode(const Rollout& rollout) {
  wire::JsonWriter out;
  out.begin_object();
  out.number("format", kRolloutFormat);
  out.number("release", rollout.release);
  out.number("before", rollout.before);
  out.text("stage", to_string(rollout.stage));
  out.key("canaries");
  out.begin_array();
  for (const NodeId node : rollout.canaries) out.text(to_string(node));
  out.end_array();
  out.key("cells");
  out.begin_array();
  for (const std::uint16_t cell : rollout.cells) out.text(std::to_string(cell));
  out.end_array();
  out.number("soak", std::int64_t{rollout.soak.count()});
  out.number("since", std::int64_t{rollout.since.time_since_epoch().count()});
  out.boolean("may_turn_away", rollout.may_turn_away);
  out.text("sha256", rollout.sha256);
  out.text("by", rollout.by);
  out.text("why", rollout.why);
  out.end_object();
  return out.take();
}

Result<Rollout> decode_rollout(std::string_view text) {
  if (text.size() > kLongestRollout) return Error{Errc::invalid, "a rollout: too long"};
  policy::Problems problems{"rollout"};
  TRY(const Value read, policy::read_json(text, problems));
  const ValueFields all{read, "a rollout"};
  TRY_DO(all.number("format", kRolloutFormat, kRolloutFormat));
  Rollout rollout;
  TRY(const std::int64_t release, all.number("release", 1, kMostReleases));
  TRY(const std::int64_t before, all.number("before", 0, release - 1));
  TRY(rollout.stage, stage_at(all));
  TRY(rollout.canaries, canaries_at(all));
  TRY(rollout.cells, cells_at(all));
  TRY(const std::int64_t soak, all.number("soak", 0, kLongestSoak));
  TRY(const std::int64_t since, all.number("since", 0, kMostReleases / 1000));
  TRY(rollout.sha256, all.text("sha256", kLongestWords));
  TRY(rollout.by, all.text("by", kLongestWords));
  TRY(rollout.why, all.text("why", kLongestWords));
  TRY(rollout.may_turn_away, all.truth("may_turn_away"));
  rollout.release = static_cast<std::uint64_t>(release);
  rollout.before = static_cast<std::uint64_t>(before);
  rollout.soak = std::chrono::seconds{soak};
  rollout.since = std::chrono::sys_seconds{std::chrono::seconds{since}};
  return rollout;
}

}  // namespace cordon::fleet
