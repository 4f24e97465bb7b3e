// SPDX-License-Identifier: Apache-2.0
#include "policy/explain.h"

#include <fmt/format.h>

#include "base/log.h"
#include "policy/explain_parts.h"

namespace cordon::policy {

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
      return fmt::format("add {} to {} in {}", change.value, change.key,
                         change.at.empty() ? change.file : change.at);
    case Edit::remove:
      return fmt::format("remove {} from {} at {}", change.value, change.key, change.at);
    case Edit::set:
      return fmt::format("set {} = {} in {}", change.key, change.value,
                         change.at.empty() ? change.file : change.at);
    case Edit::none:
      return change.value;
  }
  return {};
}

std::string Spoken::rule() const {
  const Place place = decision.place;
  return place.mark.line == 0 ? "default" : to_string(document(), place);
}

Change Spoken::add(std::string key, std::string value) const {
  return {Edit::add, file(), std::move(key), std::move(value), {}};
}

Change Spoken::set(std::string key, std::string value) const {
  return {Edit::set, file(), std::move(key), std::move(value), {}};
}

Change Spoken::remove(std::string key) const {
  if (from_preset()) {
    const std::string& preset = document().sources[decision.place.source].name;
    return none(
        fmt::format("it is a rule of {}, and stays as long as {} extends it", preset, file()));
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
