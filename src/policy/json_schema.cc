// SPDX-License-Identifier: Apache-2.0
#include "policy/json_schema.h"

#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "policy/keys.h"

namespace cordon::policy {
namespace {

namespace json = boost::json;

json::object of_table(const std::string& path);

json::object text() { return {{"type", "string"}, {"minLength", 1}}; }
json::object one_of(const Key& key) {
  json::array known;
  for (const std::string_view choice : choices_of(key)) known.emplace_back(choice);
  return {{"enum", std::move(known)}};
}
json::object list_of(json::object items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}
json::object port() { return {{"type", "integer"}, {"minimum", 1}, {"maximum", 65535}}; }
json::object any_of(json::object a, json::object b) {
  return {{"anyOf", json::array{std::move(a), std::move(b)}}};
}

json::object whole_number(const Key& key) {
  return {{"type", "integer"}, {"minimum", key.least}, {"maximum", key.most}};
}

json::object size(const Key& key) {
  return any_of({{"type", "string"}, {"pattern", "^[0-9]+(Ki|Mi|Gi|Ti)?$"}}, whole_number(key));
}

json::object cpus() {
  return any_of({{"type", "string"}, {"pattern", "^[0-9]+(\\.[0-9]{1,3})?$"}},
                {{"type", "integer"}, {"minimum", 1}, {"maximum", 4096}});
}

json::object of_key(const Key& key) {
  const std::string path{key.path};
  switch (key.kind) {
    case Kind::boolean:
      return {{"type", "boolean"}};
    case Kind::integer:
      return whole_number(key);
    case Kind::text:
      return text();
    case Kind::choice:
      return one_of(key);
    case Kind::size:
      return size(key);
    case Kind::cpus:
      return cpus();
    case Kind::texts:
      return list_of(text());
    case Kind::choices:
      return list_of(one_of(key));
    case Kind::ports:
      return list_of(port());
    case Kind::text_or_ports:
      return any_of(one_of(key), list_of(port()));
    case Kind::table:
      return of_table(path);
    case Kind::tables:
      return list_of(of_table(path + "[]"));
    case Kind::text_or_tables:
      return list_of(any_of(text(), of_table(path + "[]")));
    case Kind::texts_by_name:
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case Kind::tables_by_name:
      return {{"type", "object"}, {"additionalProperties", of_table(path + ".*")}};
    case Kind::any:
      return {{"type", "object"}};
  }
  return {};
}

json::object of_table(const std::string& path) {
  json::object properties;
  for (const Key& key : all_keys()) {
    if (!is_child_of(key, path)) continue;
    json::object schema = of_key(key);
    schema["description"] = key.meaning;
    properties[name_of(key)] = std::move(schema);
  }
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

void print(std::string& out, const json::value& value, std::size_t indent) {
  const auto lines = [&](const auto& items, char open, char close, auto&& item) {
    out += open;
    bool first = true;
    for (const auto& one : items) {
      out += first ? "\n" : ",\n";
      out.append(indent + 2, ' ');
      item(one);
      first = false;
    }
    out += '\n';
    out.append(indent, ' ');
    out += close;
  };
  if (value.is_object()) {
    lines(value.get_object(), '{', '}', [&](const auto& member) {
      out += fmt::format("{}: ", json::serialize(json::value(member.key())));
      print(out, member.value(), indent + 2);
    });
  } else {
    out += json::serialize(value);  // lists here are short: on one line
  }
}

}  // namespace

std::string json_schema() {
  json::object schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                      {"title", "Cordon policy, version 1"}};
  for (auto& member : of_table("")) schema[member.key()] = member.value();
  std::string out;
  print(out, schema, 0);
  return out + '\n';
}

}  // namespace cordon::policy
