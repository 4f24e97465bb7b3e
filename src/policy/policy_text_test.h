// SPDX-License-Identifier: Apache-2.0
// Policies from text, for tables of decisions.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "policy/parse.h"
#include "policy/policy.h"

namespace cordon::policy {

inline PolicyDocument document_from(std::string_view text) {
  auto document = parse(text, "cordon.toml", syntax_of("cordon", text));
  if (!document) throw std::logic_error{document.error().text()};
  return *std::move(document);
}

inline Policy policy_from(std::string_view text, const Registries& registries = {},
                          Origin origin = Origin::user) {
  auto policy = check(document_from(text), origin, registries);
  if (!policy) throw std::logic_error{policy.error().text()};
  return *std::move(policy);
}

inline Policy narrowed(const Policy& policy, std::string_view text) {
  auto narrower = narrow(policy, document_from(text), {});
  if (!narrower) throw std::logic_error{narrower.error().text()};
  return *std::move(narrower);
}

}  // namespace cordon::policy
