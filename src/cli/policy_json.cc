// SPDX-License-Identifier: Apache-2.0
#include "cli/policy_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "policy/parse.h"
#include "policy/value.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

json::value json_of(const policy::Value& value) {
  if (const auto* const table = value.table()) {
    json::object object;
    for (const policy::Entry& entry : *table) object[entry.key] = json_of(entry.value);
    return object;
  }
  if (const auto* const list = value.list()) {
    json::array array;
    for (const policy::Value& each : *list) array.push_back(json_of(each));
    return array;
  }
  if (const auto* const text = value.text()) return json::string{*text};
  if (const auto* const number = value.number()) return *number;
  if (const auto* const integer = value.integer()) return *integer;
  if (const auto* const boolean = value.boolean()) return *boolean;
  return nullptr;
}

}  // namespace

Result<json::value> policy_json(const std::string& file, const std::string& text,
                                policy::Problems& problems) {
  const bool is_json = policy::syntax_of(file, text) == policy::Syntax::json;
  TRY(const policy::Value value,
      is_json ? policy::read_json(text, problems) : policy::read_toml(text, problems));
  return json_of(value);
}

}  // namespace cordon::cli
