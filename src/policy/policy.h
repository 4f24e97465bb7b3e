// SPDX-License-Identifier: Apache-2.0
// A checked policy: what it decides. Made only by check(), narrow() and attenuate().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/decision.h"
#include "policy/document.h"
#include "policy/problem.h"
#include "policy/registries.h"

namespace cordon::policy {

class CheckedDocument;

// A non-empty list of checked documents, the first of which grants: no Policy is made of workspace
// files alone. A decision is the meet over them (deny < ask < allow); the explanation is the first
// that gave the lowest answer. Patterns are never intersected.
class Policy {
 public:
  Decision decide(const PathQuery& query) const;
  Decision decide(const NetQuery& query) const;
  Decision decide(const ToolQuery& query) const;
  Decision decide(const CredentialQuery& query) const;
  // Whether the name may be looked up: it is reachable on some port. An address is no name.
  Decision decide_name(std::string_view host) const;
  // Whether a name that is allowed may lead to this dotted quad: what a deny-list says of an
  // address holds by whatever name it is reached.
  Decision decide_address(std::string_view quad) const;
  // Before: decide() allows the connection. Nothing: the documents want different protocols, and no
  // connection can be what all of them allow.
  std::optional<Passage> passage(std::string_view host, std::uint16_t port) const;
  Decision decide_variable(std::string_view name) const;
  Decision decide_ingress(std::uint16_t port) const;

  // The smallest rate that a rule which holds for this call puts on it.
  std::optional<std::uint64_t> calls_per_minute(const ToolQuery& query) const;
  Settings settings() const;

  // As checked, presets laid under them; in the order of attenuation.
  using Documents = std::vector<std::shared_ptr<const CheckedDocument>>;
  const Documents& documents() const noexcept { return documents_; }

 private:
  friend Result<Policy> check(PolicyDocument document, Origin origin, const Registries& registries,
                              Problems* problems);
  friend Result<Policy> narrow(const Policy& policy, PolicyDocument document,
                               const Registries& registries, Problems* problems);
  friend Policy attenuate(const Policy& policy, const Policy& by);
  explicit Policy(Documents documents) : documents_{std::move(documents)} {}

  template <class Ask>
  Decision meet(Ask&& ask) const;

  // Owned together by all policies that were attenuated from one another; a checked document never
  // changes.
  Documents documents_;
};

// False: what @npm and the like stand for makes no difference to this document.
bool may_need_registries(const PolicyDocument& document);

// The way from a document to a policy. `origin` says who wrote it, and so what it may name;
// `registries` what @npm and the like stand for. A workspace file is refused: it is no policy, see
// narrow(). All problems are in `problems` where it is given, the first is the Error.
Result<Policy> check(PolicyDocument document, Origin origin, const Registries& registries,
                     Problems* problems = nullptr);

// `policy` under a file of the workspace: what the file does not speak about stays as it was, what
// it speaks about is allowed only where both allow it.
Result<Policy> narrow(const Policy& policy, PolicyDocument document, const Registries& registries,
                      Problems* problems = nullptr);

// A policy that allows what both allow. Never wider than either.
Policy attenuate(const Policy& policy, const Policy& by);

}  // namespace cordon::policy
