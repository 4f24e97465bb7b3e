// SPDX-License-Identifier: Apache-2.0
// Any bytes as a policy: they are refused with a message, or they make a policy that can be asked,
// told and composed, and that as a workspace file never allows what the policy above it refuses.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "policy/checked.h"
#include "policy/describe.h"
#include "policy/explain.h"
#include "policy/parse.h"
#include "policy/policy.h"
#include "policy/presets.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace policy = cordon::policy;
using policy::Effect;

const policy::Policy& base() {
  static const policy::Policy kBase = [] {
    auto document =
        policy::parse(policy::find_preset("coding-agent")->text, "base", policy::Syntax::toml);
    return *policy::check(*std::move(document), policy::Origin::user,
                          {{"@npm", {{"registry.example", 443}}}});
  }();
  return kBase;
}

constexpr std::string_view kPaths[] = {
    "/",           "/workspace/a",     "/workspace/.git/hooks/x", "/workspace/.env",
    "/etc/shadow", "/usr/bin/python3", "/home/u/.ssh/id_rsa",     "/tmp/x"};
constexpr std::string_view kHosts[] = {
    "github.com",      "api.openai.com",       "evil.example",     "10.0.0.1",
    "169.254.169.254", "host.cordon.internal", "a.b.c.example.net"};

template <class Query>
void compare(const policy::Policy& narrowed, const Query& query) {
  if (narrowed.decide(query).effect > base().decide(query).effect)
    broken("a workspace file only narrows");
}

void ask(const policy::Policy& policy) {
  for (const std::string_view path : kPaths) {
    for (const auto access : {policy::Access::read, policy::Access::write}) {
      const auto explanation = policy::explain(policy, policy::PathQuery{access, path});
      if (explanation.sentence.empty() || explanation.changes.empty())
        broken("every decision is explained");
    }
  }
  for (const std::string_view host : kHosts) {
    const policy::NetQuery query{host, 443, "GET", "/repos/x"};
    const auto explanation = policy::explain(policy, query);
    if (explanation.sentence.empty()) broken("every decision is explained");
    if (host == "169.254.169.254" && policy.decide(query).effect != Effect::deny)
      broken("metadata stays refused");
  }
  (void)policy::explain(policy,
                        policy::ToolQuery{"github", "create_issue", R"({"repo":"acme/shop"})"});
  (void)policy.settings();
  for (const auto& document : policy.documents()) (void)to_text(describe(*document));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto syntax = (data[0] & 1U) != 0 ? policy::Syntax::json : policy::Syntax::toml;
  policy::Problems problems{"f"};
  const auto document = policy::parse(text, "f", syntax, &problems);
  if (!document) {
    if (problems.empty()) broken("a refusal names its problem");
    return 0;
  }
  const policy::Registries registries = {{"@npm", {{"registry.example", 443}}}};
  for (const auto origin : {policy::Origin::user, policy::Origin::request}) {
    if (const auto checked = policy::check(*document, origin, registries)) {
      ask(*checked);
      const auto both = policy::attenuate(base(), *checked);
      for (const std::string_view host : kHosts)
        compare(both, policy::NetQuery{host, 443, "GET", "/x"});
    }
  }
  if (const auto narrowed = policy::narrow(base(), *document, registries)) {
    ask(*narrowed);
    for (const std::string_view path : kPaths)
      compare(*narrowed, policy::PathQuery{policy::Access::write, path});
    for (const std::string_view host : kHosts)
      compare(*narrowed, policy::NetQuery{host, 443, "POST", "/x"});
    compare(*narrowed, policy::ToolQuery{"github", "create_issue"});
  }
  return 0;
}
