// SPDX-License-Identifier: Apache-2.0
#include "egress/net_policy.h"

#include <optional>

#include "policy/document.h"

namespace cordon::egress {
namespace {

using policy::PolicyDocument;

template <class T>
Result<T> choice(std::uint8_t value, T last) {
  if (value > static_cast<std::uint8_t>(last)) {
    return Error{Errc::invalid, "a choice that does not exist"};
  }
  return static_cast<T>(value);
}

class DocumentReader {
 public:
  explicit DocumentReader(const frame::NetDocument& document) : from_{document} {}

  Result<PolicyDocument> read() {
    if (from_.files.empty()) return Error{Errc::invalid, "a document without a name"};
    for (const frame::NetFile& file : from_.files) {
      TRY(const auto origin, choice(file.origin, policy::Origin::workspace));
      document_.sources.push_back({file.name, origin});
    }
    TRY_DO(read_mode());
    TRY_DO(read_rules());
    TRY_DO(read_denials());
    TRY_DO(read_host_ports());
    TRY_DO(read_grants());
    return std::move(document_);
  }

 private:
  Result<policy::Place> place(const frame::RulePlace& place) const {
    if (place.source >= from_.files.size()) {
      return Error{Errc::invalid, "a rule of a file that is not named"};
    }
    return policy::Place{.source = place.source, .mark = {place.line, place.column}};
  }
  Result<std::optional<policy::Place>> place(const std::optional<frame::RulePlace>& at) const {
    if (!at) return std::optional<policy::Place>{};
    TRY(const policy::Place found, place(*at));
    return std::optional{found};
  }

  Status read_mode() {
    if (from_.ask) {
      TRY(const auto at, place(from_.ask_place));
      document_.network.ask = policy::Stated<bool>{*from_.ask, at};
    }
    if (!from_.mode) return {};
    TRY(const auto mode, choice(*from_.mode, policy::NetworkMode::public_));
    TRY(const auto at, place(from_.mode_place));
    document_.network.mode = policy::Stated<policy::NetworkMode>{mode, at};
    return {};
  }

  Status read_rules() {
    auto& list = document_.network.egress_allowlist;
    TRY(list.place, place(from_.allow_place));
    for (const frame::NetRule& rule : from_.allow) {
      policy::EgressRule& read = list.items.emplace_back();
      TRY(read.host, policy::parse_host_pattern(rule.host));
      if (rule.port == 0) return Error{Errc::invalid, "port 0"};
      read.port = rule.port;
      TRY(read.protocol, choice(rule.protocol, policy::Protocol::tcp));
      TRY(read.addresses, choice(rule.addresses, policy::Addresses::private_));
      read.websocket = rule.websocket;
      read.methods = rule.methods;
      read.paths = rule.paths;
      TRY(read.place, place(rule.place));
    }
    return {};
  }

  Status read_denials() {
    for (const frame::NetDenial& denial : from_.deny) {
      policy::HostDenial& read = document_.network.egress_denylist.items.emplace_back();
      TRY(read.host, policy::parse_host_pattern(denial.host));
      TRY(read.place, place(denial.place));
    }
    return {};
  }

  Status read_host_ports() {
    auto& list = document_.network.host_ports;
    TRY(list.place, place(from_.host_ports_place));
    for (const frame::NetPort& port : from_.host_ports) {
      TRY(const auto at, place(port.place));
      list.items.push_back({port.port, at});
    }
    return {};
  }

  Status read_grants() {
    if (from_.no_credentials) {
      document_.credentials.mode =
          policy::Stated<policy::CredentialMode>{policy::CredentialMode::none, {}};
    }
    for (const frame::NetGrant& grant : from_.grants) {
      policy::Grant& read = document_.credentials.grants.items.emplace_back();
      read.name = grant.name;
      TRY(read.host, policy::parse_host_pattern(grant.host));
      read.header = grant.header;
      read.methods = grant.methods;
      read.paths = grant.paths;
      TRY(read.place, place(grant.place));
    }
    return {};
  }

  const frame::NetDocument& from_;
  PolicyDocument document_;
};

}  // namespace

Result<policy::Policy> policy_of(const frame::Serve& serve) {
  std::optional<policy::Policy> whole;
  for (const frame::NetDocument& from : serve.documents) {
    TRY(const auto origin, choice(from.origin, policy::Origin::workspace));
    TRY(PolicyDocument document, DocumentReader{from}.read());
    if (origin == policy::Origin::workspace) {
      if (!whole) return Error{Errc::invalid, "a workspace file is no policy of its own"};
      TRY(whole, policy::narrow(*whole, std::move(document), {}));
      continue;
    }
    TRY(policy::Policy checked, policy::check(std::move(document), origin, {}));
    whole = whole ? policy::attenuate(*whole, checked) : std::move(checked);
  }
  if (!whole) return Error{Errc::invalid, "no document"};
  return *std::move(whole);
}

policy::Policy no_network() {
  const frame::NetDocument off{
      .origin = static_cast<std::uint8_t>(policy::Origin::user),
      .files = {{.name = "a policy that could not be read",
                 .origin = static_cast<std::uint8_t>(policy::Origin::user)}},
      .mode = static_cast<std::uint8_t>(policy::NetworkMode::none)};
  auto policy = policy_of({.id = {}, .documents = {off}});
  if (!policy) std::abort();  // nothing that follows could be refused
  return *std::move(policy);
}

}  // namespace cordon::egress
