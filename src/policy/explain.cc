// SPDX-License-Identifier: Apache-2.0
#include "policy/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "policy/explain_parts.h"

namespace cordon::policy {

namespace {

std::string where(const Change& change) {
  return change.at.empty() ? "in " + change.file : "at " + change.at;
}

}  // namespace

std::string_view to_string(Edit edit) noexcept {
  switch (edit) {
    case Edit::add:
      return "add";
    case Edit::remove:
      return "remove";
    case Edit::set:
      return "set";
    case Edit::none:
      return "none";
  }
  return "none";
}

std::string to_string(const Change& change) {
  switch (change.edit) {
    case Edit::add:
      return fmt::format("add {} to {} {}", change.value, change.key, where(change));
    case Edit::remove:
      return fmt::format("remove {} from {} at {}", change.value, change.key, change.at);
    case Edit::set:
      return fmt::format("set {} = {} {}", change.key, change.value, where(change));
    case Edit::none:
      return change.value;
  }
  return {};
}

std::string Spoken::rule() const {
  const Place place = decision.place;
  return place.mark.line == 0 ? "default" : to_string(document(), place);
}

std::string rule_of(const Policy& policy, const Decision& decision) {
  return Spoken{*policy.documents()[decision.document], decision}.rule();
}

Change Spoken::add(std::string key, std::string value) const {
  return {Edit::add, file(), std::move(key), std::move(value), {}};
}

Change Spoken::set(std::string key, std::string value) const {
  return {Edit::set, file(), std::move(key), std::move(value), {}};
}

std::string Spoken::file() const {
  // The flags of a command line lie over a file: what is to stay is said in the file.
  const auto& sources = document().sources;
  const auto written = std::ranges::find_if(sources, [](const Source& source) {
    return source.origin != Origin::builtin && source.name != "command line";
  });
  const std::string& name = written != sources.end() ? written->name : sources.front().name;
  if (checked.origin() != Origin::builtin) return name;
  return fmt::format("a policy of your own that extends {}", name.substr(name.find(':') + 1));
}

Change Spoken::remove(std::string key) const {
  if (from_preset()) {
    return none(fmt::format(
        "it is a rule of {} and of every policy that extends it: extend another, or none",
        document().sources[decision.place.source].name));
  }
  return {Edit::remove, file(), std::move(key), "the rule", rule()};
}

Change Spoken::none(std::string why) const { return {Edit::none, file(), {}, std::move(why), {}}; }

// A JSON string is a TOML basic string.
std::string toml_text(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

}  // namespace cordon::policy
