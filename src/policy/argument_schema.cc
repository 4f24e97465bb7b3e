// SPDX-License-Identifier: Apache-2.0
#include "policy/argument_schema.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>
// valijson is not written for our warnings.
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

enum class Holds : std::uint8_t { schema, schemas, schemas_by_name, plain };
struct Keyword {
  std::string_view name;
  Holds holds;
};
constexpr Keyword kKeywords[] = {
    {"type", Holds::plain},
    {"const", Holds::plain},
    {"enum", Holds::plain},
    {"properties", Holds::schemas_by_name},
    {"required", Holds::plain},
    {"additionalProperties", Holds::schema},
    {"minProperties", Holds::plain},
    {"maxProperties", Holds::plain},
    {"items", Holds::schema},
    {"minItems", Holds::plain},
    {"maxItems", Holds::plain},
    {"uniqueItems", Holds::plain},
    {"minLength", Holds::plain},
    {"maxLength", Holds::plain},
    {"minimum", Holds::plain},
    {"maximum", Holds::plain},
    {"exclusiveMinimum", Holds::plain},
    {"exclusiveMaximum", Holds::plain},
    {"allOf", Holds::schemas},
    {"anyOf", Holds::schemas},
    {"oneOf", Holds::schemas},
    {"not", Holds::schema},
    {"title", Holds::plain},
    {"description", Holds::plain},
};
constexpr std::string_view kTypes[] = {"object",  "array",   "string", "number",
                                       "integer", "boolean", "null"};

void check_types(const Value& value, Problems& problems) {
  if (value.list() != nullptr) {
    for (const Value& item : *value.list()) check_types(item, problems);
  } else if (value.text() == nullptr ||
             std::ranges::find(kTypes, *value.text()) == std::end(kTypes)) {
    problems.add(value.mark, fmt::format("`type`: allowed are {}", fmt::join(kTypes, ", ")));
  }
}

void check_part(const Value& value, const Keyword& keyword, Problems& problems) {
  const auto list_of = [&](const auto* items, auto&& schema_of) {
    if (items == nullptr) {
      problems.add(value.mark, fmt::format("`{}`: malformed", keyword.name));
      return;
    }
    for (const auto& item : *items) check_argument_schema(schema_of(item), problems);
  };
  switch (keyword.holds) {
    case Holds::plain:
      if (keyword.name == "type") check_types(value, problems);
      return;
    case Holds::schema:
      if (value.boolean() == nullptr) check_argument_schema(value, problems);
      return;
    case Holds::schemas:
      return list_of(value.list(), [](const Value& item) -> const Value& { return item; });
    case Holds::schemas_by_name:
      return list_of(value.table(), [](const Entry& entry) -> const Value& { return entry.value; });
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
    problems.add(
        entry.mark,
        fmt::format(
            "JSON Schema keyword {} is not held by Cordon; write the condition without it{}",
            quoted(entry.key), did_you_mean(entry.key, known)));
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

bool ArgumentSchema::accepts(std::string_view arguments) const {
  // read_json refuses duplicate keys and deep nesting; Boost.JSON would let the last of two keys
  // win.
  Problems problems{"arguments"};
  const Result<Value> tree = read_json(arguments, problems);
  if (!tree || tree->table() == nullptr) return false;
  const boost::json::value document = boost::json::parse(to_json(*tree));
  valijson::Validator validator;
  return validator.validate(compiled_->schema, valijson::adapters::BoostJsonAdapter{document},
                            nullptr);
}

}  // namespace cordon::policy
