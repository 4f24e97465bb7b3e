// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/schema.h"

#include <algorithm>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace cordon::mcp::server {
namespace {

bool is_of_type(std::string_view type, const json::value& value) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

Error misfit(const std::string& place, std::string_view what) {
  return {Errc::invalid, fmt::format("{} {}", place.empty() ? "the whole" : place, what)};
}

Status fit_type(const json::value& type, const json::value& value, const std::string& place) {
  const auto fits_one = [&](const json::value& one) { return is_of_type(one.as_string(), value); };
  const bool good =
      type.is_array() ? std::ranges::any_of(type.as_array(), fits_one) : fits_one(type);
  if (good) return {};
  return misfit(place, fmt::format("is expected to be of type {}", json::serialize(type)));
}

std::optional<double> number_in(const json::object& schema, std::string_view key) {
  const json::value* const bound = schema.if_contains(key);
  if (bound == nullptr) return std::nullopt;
  return bound->to_number<double>();
}

Status fit_bounds(const json::object& schema, double value, std::string_view least,
                  std::string_view most, const std::string& place) {
  if (const auto bound = number_in(schema, least); bound && value < *bound) {
    return misfit(place, fmt::format("is below {} ({})", least, *bound));
  }
  if (const auto bound = number_in(schema, most); bound && value > *bound) {
    return misfit(place, fmt::format("is above {} ({})", most, *bound));
  }
  return {};
}

Status fit_at(const json::object& schema, const json::value& value, const std::string& place);

Status fit_object(const json::object& schema, const json::object& value, const std::string& place) {
  static const json::object kNone;
  const json::object* const known = object_at(schema, "properties");
  const json::object& properties = known == nullptr ? kNone : *known;
  if (const json::value* const required = schema.if_contains("required")) {
    for (const json::value& name : required->as_array()) {
      if (!value.contains(name.as_string())) {
        return misfit(place, fmt::format("lacks `{}`", std::string_view{name.as_string()}));
      }
    }
  }
  const json::value* const more = schema.if_contains("additionalProperties");
  for (const auto& [key, member] : value) {
    const std::string there = fmt::format("{}`{}`", place, std::string_view{key});
    if (const json::object* const own = object_at(properties, key)) {
      TRY_DO(fit_at(*own, member, there));
    } else if (more != nullptr && more->is_object()) {
      TRY_DO(fit_at(more->as_object(), member, there));
    } else if (more != nullptr && more->is_bool() && !more->as_bool()) {
      return misfit(there, "is not known here");
    }
  }
  return {};
}

Status fit_array(const json::object& schema, const json::array& value, const std::string& place) {
  TRY_DO(fit_bounds(schema, static_cast<double>(value.size()), "minItems", "maxItems", place));
  const json::object* const items = object_at(schema, "items");
  if (items == nullptr) return {};
  for (std::size_t at = 0; at < value.size(); ++at) {
    TRY_DO(fit_at(*items, value[at], fmt::format("{}[{}]", place, at)));
  }
  return {};
}

Status fit_at(const json::object& schema, const json::value& value, const std::string& place) {
  if (const json::value* const type = schema.if_contains("type")) {
    TRY_DO(fit_type(*type, value, place));
  }
  if (const json::value* const all = schema.if_contains("enum")) {
    const json::array& known = all->as_array();
    if (std::ranges::find(known, value) == known.end()) {
      return misfit(place, "is none of " + json::serialize(*all));
    }
  }
  if (value.is_number()) {
    TRY_DO(fit_bounds(schema, value.to_number<double>(), "minimum", "maximum", place));
  }
  if (const json::string* const text = value.if_string()) {
    TRY_DO(fit_bounds(schema, static_cast<double>(text->size()), "minLength", "maxLength", place));
  }
  if (const json::array* const list = value.if_array()) TRY_DO(fit_array(schema, *list, place));
  if (const json::object* const object = value.if_object()) {
    TRY_DO(fit_object(schema, *object, place));
  }
  return {};
}

}  // namespace

Status fits(const json::object& schema, const json::value& value) {
  return fit_at(schema, value, {});
}

}  // namespace cordon::mcp::server
