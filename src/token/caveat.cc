// SPDX-License-Identifier: Apache-2.0
#include "token/caveat.h"

#include <utility>

#include "base/bytes.h"
#include "base/utf8.h"
#include "policy/glob.h"
#include "policy/parse.h"
#include "policy/text.h"
#include "token/key.h"

namespace cordon::token {
namespace {

// Parts of tokens. 0 is nobody's: zeros are no caveat.
enum class Kind : std::uint8_t {
  tenant = 1,
  sandbox = 2,
  operation = 3,
  path = 4,
  ceiling = 5,
  budget = 6,
  expires = 7,
};

Error refused(std::string_view why) { return Error{Errc::invalid, std::string{why}}; }

Status check(const TenantIs& caveat) {
  if (is_name(caveat.tenant, kLongestTenant)) return {};
  return refused("a tenant is a name of 1 to 64 of a-z, 0-9 and -");
}

Status check(const SandboxIn& caveat) {
  if (caveat.sandboxes.size() <= kMostSandboxes) return {};
  return refused("a caveat names at most 64 sandboxes");
}

Status check(const PathBelow& caveat) {
  if (caveat.prefix.size() <= kLongestPath && policy::is_normal_path(caveat.prefix) &&
      is_utf8(caveat.prefix) && !policy::has_control_character(caveat.prefix)) {
    return {};
  }
  return refused(
      "a path is absolute, without `.`, `..`, double or last slashes and controls, and "
      "has at most 1024 bytes");
}

Status check(const PolicyCeiling& caveat) {
  if (caveat.json.size() > kLongestCeiling) return refused("a ceiling has at most 4096 bytes");
  if (caveat.json.starts_with('{') && is_utf8(caveat.json)) return {};
  return refused("a ceiling is a policy as a JSON object");
}

Status check(const ExpiresAt& caveat) {
  if (caveat.time.time_since_epoch().count() >= 0 && caveat.time <= kLastTime) return {};
  return refused("an expiry lies between the years 1970 and 9999");
}

Status check(const OperationIn& /*any set*/) { return {}; }
Status check(const BudgetOf& /*any number*/) { return {}; }

void write_text(ByteWriter& to, std::string_view text) {
  for (const char c : text) to.integer(static_cast<std::uint8_t>(c));
}

struct Write {
  ByteWriter& to;

  void kind(Kind kind) const { to.integer(static_cast<std::uint8_t>(kind)); }

  void operator()(const TenantIs& caveat) const {
    kind(Kind::tenant);
    write_text(to, caveat.tenant);
  }
  void operator()(const SandboxIn& caveat) const {
    kind(Kind::sandbox);
    to.integer(static_cast<std::uint8_t>(caveat.sandboxes.size()));
    for (const SandboxId& id : caveat.sandboxes) {
      to.integer(static_cast<std::uint8_t>(id.text().size()));
      write_text(to, id.text());
    }
  }
  void operator()(const OperationIn& caveat) const {
    kind(Kind::operation);
    to.integer(caveat.operations.bits());
  }
  void operator()(const PathBelow& caveat) const {
    kind(Kind::path);
    write_text(to, caveat.prefix);
  }
  void operator()(const PolicyCeiling& caveat) const {
    kind(Kind::ceiling);
    write_text(to, caveat.json);
  }
  void operator()(const BudgetOf& caveat) const {
    kind(Kind::budget);
    to.integer(static_cast<std::uint8_t>(caveat.quantity));
    to.integer(caveat.most);
  }
  void operator()(const ExpiresAt& caveat) const {
    kind(Kind::expires);
    to.integer(static_cast<std::uint64_t>(caveat.time.time_since_epoch().count()));
  }
};

Result<std::string> rest_of(ByteReader& from) {
  TRY(const Bytes bytes, from.take(from.left()));
  return std::string{as_text(bytes)};
}

Result<Caveat> read_sandboxes(ByteReader& from) {
  SandboxIn caveat;
  TRY(const auto count, from.integer<std::uint8_t>());
  for (unsigned i = 0; i < count; ++i) {
    TRY(const auto length, from.integer<std::uint8_t>());
    TRY(const Bytes bytes, from.take(length));
    TRY(SandboxId id, SandboxId::parse(as_text(bytes)));
    // One spelling of each set: in order, and each once.
    if (!caveat.sandboxes.empty() && id <= *caveat.sandboxes.rbegin())
      return refused("sandboxes of a caveat are in order");
    caveat.sandboxes.insert(caveat.sandboxes.end(), std::move(id));
  }
  return Caveat{std::move(caveat)};
}

Result<Caveat> read_expiry(ByteReader& from) {
  TRY(const auto seconds, from.integer<std::uint64_t>());
  const auto last = static_cast<std::uint64_t>(kLastTime.time_since_epoch().count());
  if (seconds > last) return refused("an expiry lies between the years 1970 and 9999");
  return Caveat{ExpiresAt{
      std::chrono::sys_seconds{std::chrono::seconds{static_cast<std::int64_t>(seconds)}}}};
}

Result<Caveat> read_budget(ByteReader& from) {
  TRY(const auto number, from.integer<std::uint8_t>());
  TRY(const auto most, from.integer<std::uint64_t>());
  const auto quantity = quantity_from(number);
  if (!quantity) return refused("a budget of a quantity that is not known");
  return Caveat{BudgetOf{*quantity, most}};
}

Result<Caveat> read_operations(ByteReader& from) {
  TRY(const auto bits, from.integer<std::uint64_t>());
  const auto operations = OperationSet::from_bits(bits);
  if (!operations) return refused("an operation that is not known");
  return Caveat{OperationIn{*operations}};
}

template <class T>
Result<Caveat> read_text(ByteReader& from) {
  TRY(std::string text, rest_of(from));
  return Caveat{T{std::move(text)}};
}

Result<Caveat> read_kind(Kind kind, ByteReader& from) {
  switch (kind) {
    case Kind::tenant:
      return read_text<TenantIs>(from);
    case Kind::sandbox:
      return read_sandboxes(from);
    case Kind::operation:
      return read_operations(from);
    case Kind::path:
      return read_text<PathBelow>(from);
    case Kind::ceiling:
      return read_text<PolicyCeiling>(from);
    case Kind::budget:
      return read_budget(from);
    case Kind::expires:
      return read_expiry(from);
  }
  return refused("a kind of caveat that is not known");
}

Status check_bounds(const Caveat& caveat) {
  return std::visit([](const auto& known) { return check(known); }, caveat);
}

}  // namespace

Result<std::vector<std::byte>> encode(const Caveat& caveat) {
  TRY_DO(check_bounds(caveat));
  if (const auto* const ceiling = std::get_if<PolicyCeiling>(&caveat)) {
    TRY_DO(ceiling_policy(ceiling->json, {}));
  }
  ByteWriter bytes;
  std::visit(Write{bytes}, caveat);
  return std::move(bytes).take();
}

Result<Caveat> decode_caveat(Bytes bytes) {
  ByteReader from{bytes};
  TRY(const auto kind, from.integer<std::uint8_t>());
  TRY(Caveat caveat, read_kind(static_cast<Kind>(kind), from));
  TRY_DO(from.finish());
  TRY_DO(check_bounds(caveat));
  return caveat;
}

Result<policy::Policy> ceiling_policy(const std::string& json,
                                      const policy::Registries& registries) {
  TRY(auto document, policy::parse(json, "ceiling", policy::Syntax::json));
  return policy::check(std::move(document), policy::Origin::request, registries);
}

}  // namespace cordon::token
