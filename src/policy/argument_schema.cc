// SPDX-License-Identifier: Apache-2.0
#include "policy/argument_schema.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>
// valijson is not written for our warnings. Without this word a malformed schema makes it abort;
// with it, it includes <stdexcept> inside its own namespace, so that the header must come first.
#define VALIJSON_USE_EXCEPTIONS 1
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#pragma clang diagnostic pop

#include "base/log.h"
#include "policy/spelling.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

enum class Holds : std::uint8_t {
  schema,
  schemas,
  schemas_by_name,
  types,
  count,
  number,
  boolean,
  names,
  values,
  any
};
struct Keyword {
  std::string_view name;
  Holds holds;
};
constexpr Keyword kKeywords[] = {
    {"type", Holds::types},
    {"const", Holds::any},
    {"enum", Holds::values},
    {"properties", Holds::schemas_by_name},
    {"required", Holds::names},
    {"additionalProperties", Holds::schema},
    {"minProperties", Holds::count},
    {"maxProperties", Holds::count},
    {"items", Holds::schema},
    {"minItems", Holds::count},
    {"maxItems", Holds::count},
    {"uniqueItems", Holds::boolean},
    {"minLength", Holds::count},
    {"maxLength", Holds::count},
    {"minimum", Holds::number},
    {"maximum", Holds::number},
    {"exclusiveMinimum", Holds::number},
    {"exclusiveMaximum", Holds::number},
    {"allOf", Holds::schemas},
    {"anyOf", Holds::schemas},
    {"oneOf", Holds::schemas},
    {"not", Holds::schema},
    {"title", Holds::any},
    {"description", Holds::any},
};
constexpr std::string_view kTypes[] = {"object",  "array",   "string", "number",
                                       "integer", "boolean", "null"};

bool is_type(const Value& value) {
  return value.text() != nullptr && std::ranges::find(kTypes, *value.text()) != std::end(kTypes);
}

bool is_filled_list(const Value& value, bool (*fits)(const Value&)) {
  return value.list() != nullptr && !value.list()->empty() &&
         std::ranges::all_of(*value.list(), fits);
}

// What a keyword that holds no schema is missing; empty: nothing. The validator would read "5" as a
// number and leave out what it cannot read.
std::string_view lack_of(const Value& value, Holds holds) {
  switch (holds) {
    case Holds::types:
      return is_type(value) || is_filled_list(value, is_type)
                 ? ""
                 : "object, array, string, number, integer, boolean, null, or a list of these";
    case Holds::count:
      return value.integer() != nullptr && *value.integer() >= 0 ? "" : "a whole number from 0";
    case Holds::number:
      return value.integer() != nullptr ||
                     (value.number() != nullptr && std::isfinite(*value.number()))
                 ? ""
                 : "a number";
    case Holds::boolean:
      return value.boolean() != nullptr ? "" : "true or false";
    case Holds::names:
      return value.list() != nullptr &&
                     std::ranges::all_of(*value.list(),
                                         [](const Value& v) { return v.text() != nullptr; })
                 ? ""
                 : "a list of names";
    case Holds::values:
      return is_filled_list(value, [](const Value&) { return true; }) ? "" : "a list of values";
    case Holds::schemas:
      return value.list() != nullptr && !value.list()->empty() ? "" : "a list of schemas";
    case Holds::schemas_by_name:
      return value.table() != nullptr ? "" : "a table of schemas by name";
    default:
      return "";
  }
}

void check_part(const Value& value, const Keyword& keyword, Problems& problems) {
  if (const std::string_view lack = lack_of(value, keyword.holds); !lack.empty()) {
    problems.add(value.mark, fmt::format("`{}`: expected {}", keyword.name, lack));
    return;
  }
  if (keyword.holds == Holds::schema && value.boolean() == nullptr) {
    check_argument_schema(value, problems);
  } else if (keyword.holds == Holds::schemas) {
    for (const Value& item : *value.list()) check_argument_schema(item, problems);
  } else if (keyword.holds == Holds::schemas_by_name) {
    for (const Entry& entry : *value.table()) check_argument_schema(entry.value, problems);
  }
}

void append_json(std::string& out, const Value& value) {
  if (const auto* const list = value.list()) {
    char separator = '[';
    for (const Value& item : *list) {
      out += separator;
      append_json(out, item);
      separator = ',';
    }
    out += list->empty() ? "[]" : "]";
  } else if (const auto* const table = value.table()) {
    char separator = '{';
    for (const Entry& entry : *table) {
      out += separator;
      append_json_string(out, entry.key);
      out += ':';
      append_json(out, entry.value);
      separator = ',';
    }
    out += table->empty() ? "{}" : "}";
  } else if (const auto* const text = value.text()) {
    append_json_string(out, *text);
  } else if (const auto* const yes = value.boolean()) {
    out += *yes ? "true" : "false";
  } else if (const auto* const integer = value.integer()) {
    out += std::to_string(*integer);
  } else if (const auto* const number = value.number()) {
    out += std::isfinite(*number) ? fmt::format("{}", *number) : "null";
  } else {
    out += "null";
  }
}

// Some readers end a text there, valijson's adapter among them: "docs\0/../.." would be "docs".
bool has_nul(const Value& value) {
  if (const auto* const text = value.text()) return text->find('\0') != std::string::npos;
  if (const auto* const list = value.list()) return std::ranges::any_of(*list, has_nul);
  return value.table() != nullptr && std::ranges::any_of(*value.table(), [](const Entry& entry) {
           return entry.key.find('\0') != std::string::npos || has_nul(entry.value);
         });
}

}  // namespace

void check_argument_schema(const Value& schema, Problems& problems) {
  if (schema.table() == nullptr) {
    problems.add(schema.mark,
                 fmt::format("expected a JSON Schema as a table, found {}", noun_of(schema)));
    return;
  }
  for (const Entry& entry : *schema.table()) {
    const auto* const keyword = std::ranges::find(kKeywords, entry.key, &Keyword::name);
    if (keyword != std::end(kKeywords)) {
      check_part(entry.value, *keyword, problems);
      continue;
    }
    std::vector<std::string_view> known;
    for (const Keyword& one : kKeywords) known.push_back(one.name);
    std::string instead = did_you_mean(entry.key, known);
    if (instead.empty()) {
      instead = fmt::format("; write the condition with {}", fmt::join(known, ", "));
    }
    problems.add(entry.mark, fmt::format("JSON Schema keyword {} is not held by Cordon{}",
                                         in_quotes(entry.key), instead));
  }
}

std::string to_json(const Value& value) {
  std::string text;
  append_json(text, value);
  return text;
}

struct ArgumentSchema::Compiled {
  valijson::Schema schema;
};

Result<ArgumentSchema> ArgumentSchema::compile(const std::string& text) {
  try {
    const boost::json::value document = boost::json::parse(text);
    auto compiled = std::make_shared<Compiled>();
    valijson::SchemaParser parser{valijson::SchemaParser::kDraft7};
    parser.populateSchema(valijson::adapters::BoostJsonAdapter{document}, compiled->schema);
    return ArgumentSchema{std::move(compiled)};
  } catch (const std::exception& error) {  // valijson's only way to say that a schema is malformed
    return Error{Errc::invalid,
                 fmt::format("`arguments` is no valid JSON Schema: {}", printable(error.what()))};
  }
}

std::optional<bool> ArgumentSchema::accepts(std::string_view arguments) const {
  // read_json refuses duplicate keys and deep nesting; Boost.JSON would let the last of two keys
  // win.
  Problems problems{"arguments"};
  const Result<Value> tree = read_json(arguments, problems, Controls::kept);
  if (!tree || tree->table() == nullptr || has_nul(*tree)) return std::nullopt;
  const boost::json::value document = boost::json::parse(to_json(*tree));
  valijson::Validator validator;
  return validator.validate(compiled_->schema, valijson::adapters::BoostJsonAdapter{document},
                            nullptr);
}

}  // namespace cordon::policy
