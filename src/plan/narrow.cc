// SPDX-License-Identifier: Apache-2.0
#include "plan/narrow.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "plan/ingress.h"
#include "plan/network.h"
#include "policy/checked.h"
#include "record/quantity.h"

namespace cordon::plan {
namespace {

// What is held by others than the sandbox's own walls. These stand from the launch on: a mount, a
// filter or an identity cannot be taken from programs that run.
constexpr std::array<std::string_view, 13> kHeldOutside = {
    "version",
    "network.mode",
    "network.egress_allowlist",
    "network.egress_denylist",
    "network.ingress",
    "network.host_ports",
    "network.requests_per_minute",
    "network.connections",
    "network.bandwidth",
    "resources.timeout_seconds",
    "resources.cpu_seconds",
    "resources.output_limit",
    "resources.egress_limit",
};

void refuse_walls(const policy::PolicyDocument& document, policy::Problems& problems) {
  for (const policy::StatedKey& stated : document.keys) {
    if (std::ranges::find(kHeldOutside, stated.key->path) != kHeldOutside.end()) continue;
    problems.add(stated.place.mark,
                 fmt::format("`{}` is set when a sandbox is launched; a living one is narrowed in "
                             "`network`, `timeout_seconds`, `cpu_seconds`, `output_limit` and "
                             "`egress_limit`; create another for the rest",
                             stated.key->path));
  }
}

// With a first document that says nothing, since no policy is made of one that only narrows.
Result<policy::Policy> narrowing_of(policy::PolicyDocument by, policy::Problems& problems) {
  policy::PolicyDocument silent;
  silent.sources.push_back({.name = "sandbox", .origin = policy::Origin::site});
  TRY(const policy::Policy first, policy::check(std::move(silent), policy::Origin::site, {}));
  return policy::narrow(first, std::move(by), {}, &problems);
}

template <class T>
void keep_less(std::optional<T>& limit, const std::optional<T>& other) {
  if (other && (!limit || *other < *limit)) limit = other;
}
void keep_less(std::optional<std::uint64_t>& limit, std::string& rule,
               const std::optional<std::uint64_t>& other, const std::string& other_rule) {
  if (!other || (limit && *limit <= *other)) return;
  limit = other;
  rule = other_rule;
}

Status narrow(frame::Serve& serve, const frame::Serve& by) {
  const auto narrowings =
      std::ranges::count(serve.documents, static_cast<std::uint8_t>(policy::Origin::workspace),
                         &frame::NetDocument::origin);
  if (static_cast<std::size_t>(narrowings) >= kMostNarrowings) {
    return Error{Errc::exhausted,
                 fmt::format("the sandbox was narrowed {} times, which is the most; create another",
                             narrowings)};
  }
  serve.documents.push_back(by.documents.back());
  frame::NetBudgets& budgets = serve.budgets;
  keep_less(budgets.bytes, budgets.bytes_rule, by.budgets.bytes, by.budgets.bytes_rule);
  keep_less(budgets.requests_per_minute, budgets.requests_rule, by.budgets.requests_per_minute,
            by.budgets.requests_rule);
  keep_less(budgets.connections, budgets.connections_rule, by.budgets.connections,
            by.budgets.connections_rule);
  keep_less(budgets.bandwidth, by.budgets.bandwidth);
  const std::size_t size = frame::encode(frame::NodeToEgress{serve}).size();
  if (size <= frame::kLongestEgressMessage) return {};
  return Error{Errc::exhausted,
               fmt::format("with this the sandbox's rules have {} bytes, more than the {} that an "
                           "egress takes; name fewer hosts",
                           size, frame::kLongestEgressMessage)};
}

std::optional<std::chrono::seconds> seconds_of(const std::optional<std::uint64_t>& count) {
  if (!count) return std::nullopt;
  return std::chrono::seconds{*count};
}

constexpr std::string_view kNarrowed = "narrowed while it lived";

void tell(Mechanism& mechanism, std::string detail) {
  if (mechanism.hold == Hold::absent) mechanism.hold = Hold::supervised;
  mechanism.detail = fmt::format("{}, {}", detail, kNarrowed);
}

// What has changed between the two, in the words of the second.
void tell(const Lowered& before, Lowered& lowered) {
  const Budgets& budgets = lowered.budgets;
  for (Mechanism& mechanism : lowered.enforcement.mechanisms) {
    if (mechanism.name == "ingress") {
      mechanism = ingress_mechanism(lowered.ingress);
    } else if (mechanism.name == "network" && lowered.network &&
               !mechanism.detail.ends_with(kNarrowed)) {
      tell(mechanism, mechanism.detail);
    } else if (mechanism.name == "wall_time" && budgets.wall != before.budgets.wall) {
      tell(mechanism, fmt::format("{} s", budgets.wall.value_or(std::chrono::seconds{0}).count()));
    } else if (mechanism.name == "cpu_time" && budgets.cpu != before.budgets.cpu) {
      tell(mechanism, fmt::format("{} s", budgets.cpu.value_or(std::chrono::seconds{0}).count()));
    } else if (mechanism.name == "output" && budgets.output != before.budgets.output) {
      tell(mechanism, to_size_text(budgets.output.value_or(0)));
    }
  }
}

}  // namespace

Result<Lowered> narrow(const Lowered& lowered, policy::PolicyDocument by,
                       policy::Problems& problems) {
  refuse_walls(by, problems);
  const auto narrowing = narrowing_of(std::move(by), problems);
  if (!problems.empty()) return problems.to_error();
  if (!narrowing) return narrowing.error();
  const policy::CheckedDocument& document = *narrowing->documents().back();

  Lowered narrower = lowered;
  if (narrower.network) {
    TRY_DO(narrow(*narrower.network, serve_of(*narrowing, narrower.network->id)));
  }
  // Of all that were let in, those that it names are left.
  if (lets_in(narrower.ingress, policy::kAnyPort)) {
    for (const policy::Port& port : document.document().network.ingress.items) {
      narrower.ingress.push_back(port.value);
    }
    std::ranges::sort(narrower.ingress);
    const auto [first, last] = std::ranges::unique(narrower.ingress);
    narrower.ingress.erase(first, last);
  }
  std::erase_if(narrower.ingress,
                [&](std::uint16_t port) { return !document.decide_ingress(port).allowed(); });
  const policy::Limits limits = narrowing->settings().limits;
  keep_less(narrower.budgets.wall, seconds_of(limits.wall_seconds));
  keep_less(narrower.budgets.cpu, seconds_of(limits.cpu_seconds));
  keep_less(narrower.budgets.output, limits.output);
  tell(lowered, narrower);
  return narrower;
}

frame::Serve without_network(frame::Serve serve, const std::string& rule) {
  const std::size_t colon = rule.rfind(':');
  // Nobody's to edit: so no refusal offers a change of the file that would give it back.
  constexpr auto kNobodys = static_cast<std::uint8_t>(policy::Origin::builtin);
  frame::NetDocument nothing{.origin = kNobodys,
                             .files = {{.name = rule.substr(0, colon), .origin = kNobodys}},
                             .mode = static_cast<std::uint8_t>(policy::NetworkMode::none)};
  if (colon != std::string::npos) {
    std::from_chars(rule.data() + colon + 1, rule.data() + rule.size(), nothing.mode_place.line);
    nothing.mode_place.column = 1;
  }
  serve.documents.push_back(std::move(nothing));
  return serve;
}

}  // namespace cordon::plan
