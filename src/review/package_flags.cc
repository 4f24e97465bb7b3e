// SPDX-License-Identifier: Apache-2.0
// The parts of a package.json that package managers run or fetch, compared.
#include <boost/json/parse.hpp>

#include "review/flags.h"
#include "review/printable.h"

namespace cordon::review {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostNames = 5;  // in one reason

Result<json::object> parse(std::string_view text) {
  json::error_code error;
  json::value value = json::parse(text, error);  // refuses what is nested deeper than 32
  if (error || !value.is_object()) return Error{Errc::invalid, "not a JSON object"};
  return std::move(value.get_object());
}

const json::value* find(const json::object& object, std::string_view key) {
  return object.if_contains(key);
}

bool differs(const json::object& before, const json::object& after, std::string_view key) {
  const json::value* const old_value = find(before, key);
  const json::value* const new_value = find(after, key);
  if (old_value == nullptr || new_value == nullptr) return old_value != new_value;
  return *old_value != *new_value;
}

// The keys whose value is new or other, escaped, with commas.
std::string changed_names(const json::object& before, const json::object& after,
                          std::string_view key) {
  const json::value* const new_value = find(after, key);
  if (new_value == nullptr || !new_value->is_object()) return {};
  const json::value* const old_value = find(before, key);
  std::string names;
  std::size_t count = 0;
  for (const auto& [name, value] : new_value->get_object()) {
    const json::value* const old_entry = old_value != nullptr && old_value->is_object()
                                             ? find(old_value->get_object(), name)
                                             : nullptr;
    if (old_entry != nullptr && *old_entry == value) continue;
    if (++count > kMostNames) continue;
    names += (names.empty() ? "" : ", ") + printable(name);
  }
  if (count > kMostNames) names += " and " + std::to_string(count - kMostNames) + " more";
  return names;
}

struct Part {
  std::string_view key;
  std::string_view verb;
};
constexpr Part kParts[] = {
    {"scripts", "changes scripts that package managers run"},
    {"dependencies", "adds or moves dependencies"},
    {"devDependencies", "adds or moves dependencies"},
    {"optionalDependencies", "adds or moves dependencies"},
    {"peerDependencies", "adds or moves dependencies"},
    {"overrides", "replaces dependencies"},
    {"resolutions", "replaces dependencies"},
    {"bin", "changes commands that are installed"},
    {"workspaces", "changes which packages are installed"},
    {"packageManager", "changes the package manager that runs"},
};

}  // namespace

std::vector<Flag> package_flags(std::string_view before, std::string_view after) {
  const auto old_package = parse(before);
  const auto new_package = parse(after);
  if (!old_package || !new_package) {
    return {{"package", "cannot be read as JSON, and package managers run it"}};
  }
  std::vector<Flag> flags;
  for (const Part& part : kParts) {
    if (!differs(*old_package, *new_package, part.key)) continue;
    const std::string names = changed_names(*old_package, *new_package, part.key);
    flags.push_back({"package", std::string{part.verb} + (names.empty() ? "" : ": " + names)});
  }
  return flags;
}

}  // namespace cordon::review
