// SPDX-License-Identifier: Apache-2.0
// What the explanations of paths, hosts and tools share.
#pragma once

#include <string>

#include "policy/checked.h"
#include "policy/explain.h"

namespace cordon::policy {

// A decision of one document, with what is needed to speak about it.
struct Spoken {
  const CheckedDocument& checked;
  const Decision& decision;

  const PolicyDocument& document() const { return checked.document(); }
  // Where the rule stands, or "default".
  std::string rule() const;
  // The file that a person edits: the document's own, whatever preset the rule came from; where the
  // document is a preset itself, a policy of the person's own.
  std::string file() const;
  // True when the rule came from a preset, which no edit of a file can take away.
  bool from_preset() const {
    return checked.document().sources[decision.place.source].origin == Origin::builtin;
  }

  Change add(std::string key, std::string value) const;
  Change set(std::string key, std::string value) const;
  // Taking the rule away, or why that cannot be: a preset's rule stays as long as the document
  // extends it.
  Change remove(std::string key) const;
  Change none(std::string why) const;
};

std::string toml_text(std::string_view text);

// Asks every document and lets `words` speak. It has sentence(), to_allow() and to_refuse(), each
// taking a Spoken.
template <class Query, class Words>
Explanation explain_with(const Policy& policy, const Query& query, const Words& words) {
  const Decision decision = policy.decide(query);
  const Spoken first{*policy.documents()[decision.document], decision};
  Explanation explanation{.effect = decision.effect,
                          .rule = first.rule(),
                          .sentence = words.sentence(first),
                          .changes = {}};
  if (decision.allowed()) {
    explanation.changes = words.to_refuse(first);
    return explanation;
  }
  for (const auto& checked : policy.documents()) {
    const Decision own = checked->decide(query);
    if (!own.allowed()) explanation.changes.push_back(words.to_allow(Spoken{*checked, own}));
  }
  return explanation;
}

}  // namespace cordon::policy
