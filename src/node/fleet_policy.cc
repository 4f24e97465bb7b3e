// SPDX-License-Identifier: Apache-2.0
#include "node/fleet_policy.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "gate/release.h"
#include "hash/sha256.h"
#include "policy/problem.h"

namespace cordon::node {
namespace {

std::string digest_of(std::string_view text) { return to_hex(sha256({as_bytes(text)})); }

}  // namespace

FleetPolicy::FleetPolicy(Parts parts, const token::Secret& key)
    : parts_{parts}, key_{token::hmac(key, {as_bytes("cordon release of a fleet's policy")})} {}

journal::Digest FleetPolicy::mac_of(std::uint64_t number, std::string_view text) const {
  const std::string head = fmt::format("{}\n", number);
  const token::Secret mac = token::hmac(key_, {as_bytes(head), as_bytes(text)});
  journal::Digest digest{};
  std::ranges::copy(mac.bytes(), digest.begin());
  return digest;
}

Result<FleetPolicy::Release> FleetPolicy::read(std::uint64_t number,
                                               const std::string& text) const {
  const std::string name = fmt::format("release {}", number);
  policy::Problems problems{name};
  TRY(gate::Release release, gate::read_release(text, name, problems));
  if (Status fits = parts_.admission.check(release); !fits) {
    return std::move(fits).error().with(name);
  }
  return Release{std::make_shared<const gate::Release>(std::move(release))};
}

Status FleetPolicy::hold(Release release, State state) {
  TRY_DO(parts_.log.append({}, PolicyReleased{state.number, state.sha256}));
  parts_.admission.hold_against(release);
  parts_.quotas.hold_against(std::move(release));
  log(LogLevel::info, "policy", "new sandboxes are held against",
      {{"release", static_cast<std::int64_t>(state.number)}, {"sha256", state.sha256}});
  state_ = std::move(state);
  return {};
}

Error FleetPolicy::refuse(std::uint64_t number, Error why) {
  log(LogLevel::error, "policy", "a release was not taken: what held before holds on",
      {{"release", static_cast<std::int64_t>(number)}, {"why", why.text()}});
  state_.refused = Refused{.number = number, .why = why.text()};
  return why;
}

void FleetPolicy::restore(const std::optional<journal::ReleaseRow>& kept) {
  if (!kept) return;
  kept_ = kept;
  if (!token::same_bytes(mac_of(kept->number, kept->text), kept->mac)) {
    static_cast<void>(refuse(kept->number, {Errc::denied,
                                            "the release on the disk is not as this node kept it: "
                                            "the node's own settings hold alone"}));
    return;
  }
  auto release = read(kept->number, kept->text);
  if (!release) {
    static_cast<void>(
        refuse(kept->number, std::move(release).error().with("the release on the disk")));
    return;
  }
  const Status held =
      hold(*std::move(release), {.number = kept->number, .sha256 = digest_of(kept->text)});
  if (!held) static_cast<void>(refuse(kept->number, held.error()));
}

async::Task<void> FleetPolicy::keep(std::optional<journal::ReleaseRow> row) {
  co_return co_await parts_.journal.write(
      journal::Durability::power, [row = std::move(row)](journal::Ledger& ledger) {
        return row ? ledger.keep_release(*row) : ledger.drop_release();
      });
}

async::Task<void> FleetPolicy::take(std::uint64_t number, std::string text) {
  State state{.number = number, .sha256 = digest_of(text)};
  if (number == state_.number && state.sha256 == state_.sha256) co_return Status{};
  if (number == state_.number) {
    co_return Error{Errc::exists,
                    fmt::format("release {} holds here already, with another text; give a new "
                                "number to what is new",
                                number)};
  }
  auto release = read(number, text);
  if (!release) co_return refuse(number, std::move(release).error());
  auto before = kept_;
  journal::ReleaseRow row{.number = number, .text = std::move(text)};
  row.mac = mac_of(number, row.text);
  CO_TRY_DO(co_await keep(row));
  kept_ = std::move(row);
  Status held = hold(*std::move(release), std::move(state));
  if (!held) {
    // What the log does not tell of must not hold at the next start either.
    kept_ = before;
    static_cast<void>(co_await keep(std::move(before)));
  }
  co_return held;
}

async::Task<void> FleetPolicy::drop() {
  const bool was_held = state_.number != 0;
  CO_TRY_DO(co_await keep(std::nullopt));
  kept_.reset();
  if (!was_held) {
    co_return Status{};
  }
  co_return hold(nullptr, State{.refused = state_.refused});
}

}  // namespace cordon::node
