// SPDX-License-Identifier: Apache-2.0
// Suggestions, for a person and for a program.
#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/suggest.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;
using policy::Sign;
using policy::Suggestion;

std::string uses_text(std::uint64_t uses) {
  return uses == 1 ? "1 use" : fmt::format("{} uses", uses);
}

std::string line_of(const Suggestion& one, std::size_t width) {
  return terminal::printable(fmt::format("  {} {:<6} {:<{}}  {:<8}  {:<12} {}", to_char(one.sign),
                                         one.kind, one.what, width, uses_text(one.uses), one.risk,
                                         one.word)) +
         '\n';
}

std::string_view name_of(Sign sign) {
  switch (sign) {
    case Sign::suggested:
      return "suggested";
    case Sign::left:
      return "left";
    case Sign::never:
      return "never";
  }
  return "left";
}

json::object to_json(const Suggestion& one) {
  json::array changes;
  for (const policy::Change& change : one.changes) {
    changes.push_back(json::object{{"edit", to_string(change.edit)},
                                   {"key", change.key},
                                   {"value", change.value},
                                   {"at", change.at}});
  }
  return {{"sign", name_of(one.sign)},
          {"kind", one.kind},
          {"what", one.what},
          {"uses", one.uses},
          {"risk", one.risk},
          {"word", one.word},
          {"changes", std::move(changes)}};
}

bool is_suggested(const Suggestion& one) { return one.sign == Sign::suggested; }

}  // namespace

std::string words_of(const policy::Suggestions& found, const RunHistory& run,
                     const std::string& file) {
  std::string text = fmt::format("from {} refusal{} of {}:\n", found.refusals,
                                 found.refusals == 1 ? "" : "s", run.sandbox);
  constexpr std::size_t kWidest = 48;
  std::size_t width = 0;
  for (const Suggestion& one : found.all) width = std::max(width, one.what.size());
  for (const Suggestion& one : found.all) text += line_of(one, std::min(width, kWidest));
  if (found.already > 0) {
    text += fmt::format("  {} of them {} allowed by {} already\n", found.already,
                        found.already == 1 ? "is" : "are", terminal::printable(file));
  }
  if (std::ranges::none_of(found.all, is_suggested)) text += "nothing to suggest\n";
  return text;
}

std::string json_of(const policy::Suggestions& found, const RunHistory& run,
                    const ChangedPolicy& policy) {
  json::array all;
  for (const Suggestion& one : found.all) all.push_back(to_json(one));
  return json::serialize(json::object{{"sandbox", run.sandbox},
                                      {"policy", policy.file},
                                      {"refusals", found.refusals},
                                      {"already", found.already},
                                      {"suggestions", std::move(all)},
                                      {"text", found.text}}) +
         '\n';
}

}  // namespace cordon::cli
