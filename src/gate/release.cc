// SPDX-License-Identifier: Apache-2.0
#include "gate/release.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "policy/keys.h"
#include "policy/parse.h"
#include "policy/shape.h"
#include "policy/text.h"
#include "token/caveat.h"
#include "token/key.h"

namespace cordon::gate {
namespace {

using policy::Key;
using policy::Kind;
using policy::Section;

// Ceilings have the rules of policies.
constexpr Key kKeys[] = {
    {"ceiling", Kind::any, "the policy that bounds every request"},

    {"quota", Kind::table, "of each tenant without one of its own"},
    {"quota.sandboxes", Kind::integer, "alive at once", {}, 0, kMostSandboxes},
    {"quota.creates_per_second", Kind::integer, "made in a second", {}, 0, kMostRate},
    {"quota.cpus", Kind::cpus, "processors of all together"},
    {"quota.memory", Kind::size, "memory of all together", {}, kLeastMemory, kMostMemory},
    {"quota.requests", Kind::integer, "served at once, streams too", {}, 1, kMostRequests},

    {"tenants", Kind::tables_by_name, "who may be named by a token"},
    {"tenants.*.ceiling", Kind::any, "a policy for it"},
    {"tenants.*.sandboxes", Kind::integer, "alive at once", {}, 0, kMostSandboxes},
    {"tenants.*.creates_per_second", Kind::integer, "made in a second", {}, 0, kMostRate},
    {"tenants.*.cpus", Kind::cpus, "processors of all together"},
    {"tenants.*.memory", Kind::size, "memory of all together", {}, kLeastMemory, kMostMemory},
    {"tenants.*.requests", Kind::integer, "served at once, streams too", {}, 1, kMostRequests},
};

// Where nothing is said nothing is bounded: a node's settings have a default, a release has none.
Quota stated_quota(const Section& section) {
  Quota quota = read_quota(section);
  if (section.find("requests") == nullptr) {
    quota.requests = std::numeric_limits<std::uint64_t>::max();
  }
  return quota;
}

std::optional<policy::Policy> read_ceiling(const Section& section, const std::string& name) {
  const policy::Value* const tree = section.find("ceiling");
  if (tree == nullptr) return std::nullopt;
  if (tree->table() == nullptr) {
    section.problem("ceiling", fmt::format("`ceiling`: expected a table, found {}: a release names "
                                           "no files; write the policy itself below [ceiling]",
                                           policy::noun_of(*tree)));
    return std::nullopt;
  }
  policy::Problems found{name};
  auto document = policy::parse(*tree, name, found);
  if (document) {
    auto checked = policy::check(*std::move(document), policy::Origin::site, {}, &found);
    if (checked) return *std::move(checked);
  }
  section.problems().add_all(found);
  return std::nullopt;
}

Release read(const Section& top, const std::string& name) {
  Release release;
  release.ceiling = read_ceiling(top, name);
  release.quota = stated_quota(top.section("quota"));
  const Section tenants = top.section("tenants");
  for (const policy::Entry& entry : tenants.entries()) {
    if (!token::is_name(entry.key, token::kLongestTenant)) {
      tenants.problems().add(entry.mark,
                             fmt::format("{} is no name of a tenant; allowed are 1 to 64 "
                                         "of a-z, 0-9 and -",
                                         policy::in_quotes(entry.key)));
    }
    const Section section{&entry.value, tenants.problems()};
    release.tenants.emplace(entry.key, Release::Tenant{.quota = stated_quota(section),
                                                       .ceiling = read_ceiling(section, name)});
  }
  return release;
}

}  // namespace

const Quota& Release::quota_of(std::string_view tenant) const {
  const auto own = tenants.find(tenant);
  return own == tenants.end() ? quota : own->second.quota;
}

policy::Policy Release::narrowed(const policy::Policy& policy, std::string_view tenant) const {
  policy::Policy narrower = ceiling ? policy::attenuate(*ceiling, policy) : policy;
  const auto own = tenants.find(tenant);
  if (own == tenants.end()) return narrower;
  const std::optional<policy::Policy>& also = own->second.ceiling;
  return also ? policy::attenuate(*also, narrower) : narrower;
}

Result<Release> read_release(std::string_view text, const std::string& name,
                             policy::Problems& problems) {
  if (text.size() > kLargestRelease) {
    return Error{Errc::invalid, fmt::format("{}: {} bytes, a release has at most {}", name,
                                            text.size(), kLargestRelease)};
  }
  TRY(const policy::Value tree, policy::syntax_of({}, text) == policy::Syntax::json
                                    ? policy::read_json(text, problems)
                                    : policy::read_toml(text, problems));
  policy::check_shape(tree, problems, kKeys);
  if (!problems.empty()) return problems.to_error();
  const Section top{&tree, problems};
  if (top.entries().empty()) {
    return Error{Errc::invalid, name + ": it says nothing; write [ceiling], [quota] or [tenants]"};
  }
  Release release = read(top, name);
  if (!problems.empty()) return problems.to_error();
  return release;
}

}  // namespace cordon::gate
