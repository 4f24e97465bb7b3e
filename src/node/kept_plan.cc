// SPDX-License-Identifier: Apache-2.0
#include "node/kept_plan.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/bytes.h"
#include "frame/fields.h"
#include "policy/host.h"

namespace cordon::node {
namespace kept {

constexpr std::uint16_t kPlanVersion = 4;
constexpr std::uint16_t kWithoutResponses = 3;  // of earlier daemons, as are
constexpr std::uint16_t kWithoutPaths = 2;
constexpr std::uint16_t kWithoutIngress = 1;  // these

struct KeptMechanism {
  std::string name;
  std::uint8_t hold = 0;
  std::string detail;
  CORDON_FIELDS(KeptMechanism, self.name, self.hold, self.detail);
};

struct Kept {
  std::uint16_t version = kPlanVersion;
  std::string plan;  // as a launcher gets it
  std::optional<std::string> network;
  std::vector<KeptMechanism> mechanisms;
  std::vector<std::string> reported;
  std::optional<std::uint64_t> wall, cpu;  // seconds
  std::optional<std::uint64_t> output, memory, workspace;
  std::uint64_t workspace_before = 0;
  std::vector<std::string> environment;
  std::string directory;
  CORDON_FIELDS(Kept, self.version, self.plan, self.network, self.mechanisms, self.reported,
                self.wall, self.cpu, self.output, self.memory, self.workspace,
                self.workspace_before, self.environment, self.directory);
};

struct KeptGrant {
  std::string name, env, from, host, header;
  std::vector<std::string> methods, paths;
  std::uint64_t ttl_seconds = 0;
  std::string placeholder;
  CORDON_FIELDS(KeptGrant, self.name, self.env, self.from, self.host, self.header, self.methods,
                self.paths, self.ttl_seconds, self.placeholder);
};

struct KeptGrants {
  std::vector<KeptGrant> all;
  CORDON_FIELDS(KeptGrants, self.all);
};

struct KeptCharge {
  std::uint8_t quantity = 0;
  std::uint64_t amount = 0;
  std::string account;
  CORDON_FIELDS(KeptCharge, self.quantity, self.amount, self.account);
};

struct KeptCharges {
  std::vector<KeptCharge> all;
  CORDON_FIELDS(KeptCharges, self.all);
};

}  // namespace kept

namespace {

// Between the plan, and of those that have some the grants, the charges, and the papers; not of
// base64's alphabet.
constexpr char kBetween = '.';

using kept::Kept;
using kept::KeptCharge;
using kept::KeptCharges;
using kept::KeptGrant;
using kept::KeptGrants;
using kept::KeptMechanism;

std::string text_of(std::span<const std::byte> bytes) { return std::string{as_text(bytes)}; }

std::optional<std::uint64_t> count_of(const std::optional<std::chrono::seconds>& time) {
  if (!time) return std::nullopt;
  return static_cast<std::uint64_t>(time->count());
}

std::optional<std::chrono::seconds> seconds_of(const std::optional<std::uint64_t>& count) {
  if (!count) return std::nullopt;
  return std::chrono::seconds{*count};
}

std::string charges_text(const std::vector<Charge>& charges) {
  KeptCharges kept;
  for (const Charge& each : charges) {
    kept.all.push_back(
        {static_cast<std::uint8_t>(each.quantity), each.amount, text_of(each.account)});
  }
  ByteWriter bytes;
  frame::FieldWriter{bytes}.put(kept);
  return to_base64(as_text(bytes.bytes()));
}

Result<std::vector<Charge>> read_charges(std::string_view text) {
  const Error broken{Errc::invalid, "charges in the journal cannot be read"};
  const auto bytes = from_base64(text);
  if (!bytes) return broken;
  ByteReader reader{as_bytes(*bytes)};
  KeptCharges kept;
  TRY_DO(frame::FieldReader{reader}.get(kept));
  std::vector<Charge> charges;
  for (const KeptCharge& each : kept.all) {
    const auto quantity = token::quantity_from(each.quantity);
    Charge charge{.amount = each.amount};
    if (!quantity || each.account.size() != charge.account.size()) return broken;
    charge.quantity = *quantity;
    std::ranges::copy(as_bytes(each.account), charge.account.begin());
    charges.push_back(charge);
  }
  if (reader.left() != 0) return broken;
  return charges;
}

// What stands before the next kBetween, which goes with it; nothing: there is none any more.
std::optional<std::string_view> cut_part(std::string_view& text, bool& is_last) {
  if (is_last) return std::nullopt;
  const std::size_t end = std::min(text.find(kBetween), text.size());
  const std::string_view part = text.substr(0, end);
  is_last = end == text.size();
  text.remove_prefix(is_last ? end : end + 1);
  return part;
}

}  // namespace

std::string grants_text(const std::vector<HeldGrant>& grants) {
  KeptGrants kept;
  for (const auto& [grant, placeholder] : grants) {
    kept.all.push_back({.name = grant.name,
                        .env = grant.env,
                        .from = grant.from,
                        .host = to_string(grant.host),
                        .header = grant.header,
                        .methods = grant.methods,
                        .paths = grant.paths,
                        .ttl_seconds = grant.ttl_seconds,
                        .placeholder = placeholder});
  }
  ByteWriter bytes;
  frame::FieldWriter{bytes}.put(kept);
  return to_base64(as_text(bytes.bytes()));
}

Result<std::vector<HeldGrant>> read_grants(std::string_view text) {
  const Error broken{Errc::invalid, "grants in the journal cannot be read"};
  const auto bytes = from_base64(text);
  if (!bytes) return broken;
  ByteReader reader{as_bytes(*bytes)};
  KeptGrants kept;
  TRY_DO(frame::FieldReader{reader}.get(kept));
  if (reader.left() != 0) return broken;
  std::vector<HeldGrant> grants;
  for (KeptGrant& each : kept.all) {
    TRY(policy::HostPattern host, policy::parse_host_pattern(each.host));
    grants.push_back({policy::Grant{.name = std::move(each.name),
                                    .env = std::move(each.env),
                                    .source = policy::SecretSource::secret,
                                    .from = std::move(each.from),
                                    .host = std::move(host),
                                    .header = std::move(each.header),
                                    .methods = std::move(each.methods),
                                    .paths = std::move(each.paths),
                                    .ttl_seconds = each.ttl_seconds},
                      std::move(each.placeholder)});
  }
  return grants;
}

std::string kept_text(const plan::Lowered& lowered, const std::vector<HeldGrant>& grants,
                      const std::vector<Charge>& charges, const Papers& papers) {
  Kept kept{.plan = text_of(frame::encode(lowered.plan)),
            .reported = lowered.enforcement.reported,
            .wall = count_of(lowered.budgets.wall),
            .cpu = count_of(lowered.budgets.cpu),
            .output = lowered.budgets.output,
            .memory = lowered.budgets.memory,
            .workspace = lowered.budgets.workspace,
            .workspace_before = lowered.budgets.workspace_before,
            .environment = lowered.environment,
            .directory = lowered.directory};
  if (lowered.network) kept.network = text_of(frame::encode(frame::NodeToEgress{*lowered.network}));
  for (const Mechanism& mechanism : lowered.enforcement.mechanisms) {
    kept.mechanisms.push_back(
        {mechanism.name, static_cast<std::uint8_t>(mechanism.hold), mechanism.detail});
  }
  ByteWriter bytes;
  frame::FieldWriter writer{bytes};
  writer.put(kept);
  writer.put(lowered.ingress);
  writer.put(lowered.paths);
  writer.put(lowered.responses);
  std::string text = to_base64(as_text(bytes.bytes()));
  const bool has_papers = papers != Papers{};
  const bool has_charges = !charges.empty() || has_papers;
  if (!grants.empty() || has_charges) text += kBetween;
  if (!grants.empty()) text += grants_text(grants);
  if (has_charges) text += kBetween;
  if (!charges.empty()) text += charges_text(charges);
  if (has_papers) text += kBetween + papers_text(papers);
  return text;
}

namespace {

Error unreadable() { return {Errc::invalid, "a plan in the journal cannot be read"}; }

struct PlanPart {
  Kept held;
  std::vector<std::uint16_t> ingress;
  std::vector<frame::PathDocument> paths;
  std::vector<frame::Response> responses;
};

Result<PlanPart> read_plan_part(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return unreadable();
  ByteReader reader{as_bytes(*bytes)};
  frame::FieldReader fields{reader};
  PlanPart part;
  TRY_DO(fields.get(part.held));
  const auto version = part.held.version;
  if (version >= kept::kWithoutPaths) TRY_DO(fields.get(part.ingress));
  if (version >= kept::kWithoutResponses) TRY_DO(fields.get(part.paths));
  if (version == kept::kPlanVersion) TRY_DO(fields.get(part.responses));
  const bool is_known = version >= kept::kWithoutIngress && version <= kept::kPlanVersion;
  if (!is_known || reader.left() != 0) return unreadable();
  return part;
}

}  // namespace

Result<KeptSandbox> read_kept(std::string_view text) {
  const Error broken = unreadable();
  bool is_last = false;
  const std::string_view plan_part = cut_part(text, is_last).value_or("");
  const auto grants_part = cut_part(text, is_last);
  const auto charges_part = cut_part(text, is_last);
  const auto papers_part = cut_part(text, is_last);
  // Of a part that is not needed nothing is written.
  const bool is_odd = (grants_part && grants_part->empty() && !charges_part) ||
                      (charges_part && charges_part->empty() && !papers_part);
  if (!is_last || is_odd) return broken;
  std::vector<HeldGrant> grants;
  if (grants_part && !grants_part->empty()) {
    TRY(grants, read_grants(*grants_part));
  }
  std::vector<Charge> charges;
  if (charges_part && !charges_part->empty()) {
    TRY(charges, read_charges(*charges_part));
  }
  Papers papers;
  if (papers_part) {
    TRY(papers, read_papers(*papers_part));
  }
  TRY(PlanPart part, read_plan_part(plan_part));
  auto& [held, ingress, paths, responses] = part;
  TRY(const frame::ReceivedPlan plan, frame::decode_plan(as_bytes(held.plan)));
  plan::Lowered lowered{.plan = plan.plan(),
                        .enforcement = {.reported = std::move(held.reported)},
                        .budgets = {.wall = seconds_of(held.wall),
                                    .cpu = seconds_of(held.cpu),
                                    .output = held.output,
                                    .memory = held.memory,
                                    .workspace = held.workspace,
                                    .workspace_before = held.workspace_before},
                        .ingress = std::move(ingress),
                        .environment = std::move(held.environment),
                        .directory = std::move(held.directory),
                        .paths = std::move(paths),
                        .responses = std::move(responses)};
  for (KeptMechanism& mechanism : held.mechanisms) {
    if (mechanism.hold > static_cast<std::uint8_t>(Hold::held)) return broken;
    lowered.enforcement.mechanisms.push_back({std::move(mechanism.name),
                                              static_cast<Hold>(mechanism.hold),
                                              std::move(mechanism.detail)});
  }
  if (held.network) {
    TRY(auto message, frame::decode_node_to_egress(as_bytes(*held.network)));
    auto* const serve = std::get_if<frame::Serve>(&message);
    if (serve == nullptr) return broken;
    lowered.network = std::move(*serve);
  }
  return KeptSandbox{std::move(lowered), std::move(grants), std::move(charges), std::move(papers)};
}

}  // namespace cordon::node
