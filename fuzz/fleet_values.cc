// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a node says of itself, as a quota, as a key, as a map of nodes from the disk,
// and as a rollout and a release of the policy: they are refused, or they mean what can be, and
// mean the same once written anew. Whatever cells then take of a quota and release, what they hold
// and what is left is the whole.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "fleet/node_id.h"
#include "fleet/quota_ledger.h"
#include "fleet/rollout.h"
#include "fleet/roster.h"
#include "fleet/summary.h"
#include "gate/release.h"
#include "policy/parse.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace fleet = cordon::fleet;

void as_summary(std::string_view text) {
  const auto summary = fleet::decode_summary(text);
  if (!summary) return;
  if (summary->gauge.free > summary->gauge.slots) broken("a node has no more free than it has");
  if (!fleet::check_address(summary->address)) broken("a node is at an address");
  const auto again = fleet::decode_summary(fleet::encode(*summary));
  if (!again || *again != *summary) broken("a summary is the same once written");
  if (fleet::differs(*summary, *again)) broken("the same is no news");
}

void check_whole(const fleet::QuotaLedger& ledger) {
  std::int64_t sum = ledger.pool();
  for (const fleet::Cell cell : ledger.homes) {
    sum += static_cast<std::int64_t>(ledger.held_by(cell));
  }
  for (const auto& [cell, amount] : ledger.lent) {
    if (!ledger.homes.contains(cell)) sum += static_cast<std::int64_t>(ledger.held_by(cell));
  }
  if (sum != static_cast<std::int64_t>(ledger.total)) broken("parts are the whole");
}

void as_quota(std::string_view text) {
  const auto read = fleet::decode_quota(text);
  if (!read) return;
  fleet::QuotaLedger ledger = *read;
  check_whole(ledger);
  const auto again = fleet::decode_quota(fleet::encode(ledger));
  if (!again || *again != ledger) broken("a quota is the same once written");
  // The text is also what happens to it.
  for (const char letter : text) {
    const auto number = static_cast<unsigned char>(letter);
    const auto cell = static_cast<fleet::Cell>(number % 8);
    const std::int64_t pool = ledger.pool();
    if (number < 128) {
      const std::uint64_t taken = ledger.take(cell);
      if (static_cast<std::int64_t>(taken) > std::max<std::int64_t>(pool, 0)) {
        broken("nobody takes what is not there");
      }
    } else {
      ledger.release(cell, number);
    }
    check_whole(ledger);
    if (!fleet::decode_quota(fleet::encode(ledger))) broken("what cells do can be read");
  }
}

void as_map(std::string_view text) {
  const auto first = [](std::size_t) { return std::size_t{0}; };
  const cordon::Ticks now{std::chrono::seconds{1000}};
  fleet::Roster roster{{}, first};
  roster.restore(text, now);
  if (roster.choose("a")) broken("who has not answered is not chosen");
  fleet::Roster again{{}, first};
  again.restore(roster.saved(), now);
  if (again.saved() != roster.saved()) broken("a map is the same once written");
}

// Whatever a rollout says, who is sent back has no more than before.
void as_rollout(std::string_view text) {
  const auto rollout = fleet::decode_rollout(text);
  if (!rollout) return;
  const auto again = fleet::decode_rollout(fleet::encode(*rollout));
  if (!again || *again != *rollout) broken("a rollout is the same once written");
  const fleet::Rollout back = fleet::rolled_back(*rollout, text);
  if (!fleet::decode_rollout(fleet::encode(back))) broken("what is rolled back can be read");
  if (fleet::release_for(back, rollout->canaries.front()) != rollout->before) {
    broken("canaries go back");
  }
}

// What is read as a release narrows, and never widens.
void as_release(std::string_view text) {
  cordon::policy::Problems problems{"release"};
  const auto release = cordon::gate::read_release(text, "release", problems);
  if (!release) return;
  const cordon::gate::Quota own{.sandboxes = 7, .milli_cpus = 1000, .requests = 9};
  const cordon::gate::Quota least = lesser(own, release->quota_of("acme"));
  if (least.sandboxes.value_or(8) > 7 || least.milli_cpus.value_or(1001) > 1000 ||
      least.requests > 9) {
    broken("a release gives nobody more");
  }
  auto nothing = cordon::policy::parse("", "request", cordon::policy::Syntax::toml);
  if (!nothing) return;
  const auto none = cordon::policy::check(*std::move(nothing), cordon::policy::Origin::request, {});
  const cordon::policy::NetQuery anywhere{.host = "a.example"};
  if (none && release->narrowed(*none, "acme").decide(anywhere).allowed()) {
    broken("who asked for no network has none");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = cordon::as_text(std::as_bytes(std::span{data, size}));
  as_summary(text);
  as_quota(text);
  as_map(text);
  as_rollout(text);
  as_release(text);
  if (const auto node = fleet::node_of(text); node && fleet::key_of(*node) != text) {
    broken("a node has one key");
  }
  return 0;
}
