// SPDX-License-Identifier: Apache-2.0
#include "node/papers.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/bytes.h"
#include "policy/checked.h"
#include "policy/parse.h"

namespace cordon::node {
namespace {

constexpr std::uint16_t kPapersVersion = 1;

template <class Kept>
std::string text_of_fields(const Kept& kept) {
  ByteWriter bytes;
  frame::FieldWriter writer{bytes};
  writer.put(kPapersVersion);
  writer.put(kept);
  return to_base64(as_text(bytes.bytes()));
}

template <class Kept>
Result<Kept> read_fields(std::string_view text) {
  const Error broken{Errc::invalid, "the papers of a sandbox cannot be read"};
  const auto held = from_base64(text);
  if (!held) return broken;
  ByteReader reader{as_bytes(*held)};
  frame::FieldReader fields{reader};
  std::uint16_t version = 0;
  TRY_DO(fields.get(version));
  if (version != kPapersVersion) return broken;
  Kept kept;
  TRY_DO(fields.get(kept));
  if (reader.left() != 0) return broken;
  return kept;
}

}  // namespace

std::vector<Paper> papers_of(const policy::Policy& policy) {
  std::vector<Paper> papers;
  for (const auto& checked : policy.documents()) {
    Paper paper{static_cast<std::uint8_t>(checked->origin()), checked->document().written.json};
    if (paper.policy.empty()) return {};
    if (std::ranges::find(papers, paper) == papers.end()) papers.push_back(std::move(paper));
  }
  // Ceilings stand before what they bound; but what is made again is made of the request.
  constexpr auto kRequest = static_cast<std::uint8_t>(policy::Origin::request);
  const auto asked = std::ranges::find(papers, kRequest, &Paper::origin);
  if (asked == papers.end()) return {};
  std::rotate(papers.begin(), asked, std::next(asked));
  return papers;
}

Result<policy::Policy> policy_of(const std::vector<Paper>& papers, policy::Problems& problems,
                                 void (*add_defaults)(policy::PolicyDocument& first)) {
  std::optional<policy::Policy> policy;
  for (const Paper& paper : papers) {
    if (paper.origin > static_cast<std::uint8_t>(policy::Origin::workspace)) {
      return Error{Errc::invalid, "the papers of a sandbox name an origin that there is not"};
    }
    TRY(policy::PolicyDocument document,
        policy::parse(paper.policy, "request", policy::Syntax::json, &problems));
    if (!policy) {
      if (paper.origin != static_cast<std::uint8_t>(policy::Origin::request)) {
        return Error{Errc::invalid, "the papers of a sandbox do not begin with its request"};
      }
      add_defaults(document);
      // Whoever says these papers grants no more than any request does.
      TRY(policy, policy::check(std::move(document), policy::Origin::request, {}, &problems));
    } else if (const auto origin = static_cast<policy::Origin>(paper.origin);
               origin == policy::Origin::workspace) {
      TRY(policy, policy::narrow(*policy, std::move(document), {}, &problems));
    } else {
      TRY(const policy::Policy by, policy::check(std::move(document), origin, {}, &problems));
      policy = policy::attenuate(*policy, by);
    }
  }
  if (!policy) return Error{Errc::invalid, "the papers of a sandbox say no policy"};
  return *std::move(policy);
}

std::string papers_text(const Papers& papers) { return text_of_fields(papers); }
Result<Papers> read_papers(std::string_view text) { return read_fields<Papers>(text); }

std::string traveller_text(const Traveller& traveller) { return text_of_fields(traveller); }
Result<Traveller> read_traveller(std::string_view text) { return read_fields<Traveller>(text); }

}  // namespace cordon::node
