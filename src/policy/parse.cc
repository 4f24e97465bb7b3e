// SPDX-License-Identifier: Apache-2.0
#include "policy/parse.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/argument_schema.h"
#include "policy/parse_sections.h"
#include "policy/shape.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

bool is_neutral(const Value& value, const Key& key) {
  if (key.neutral.empty()) return false;
  if (value.list() != nullptr) return value.list()->empty();
  if (value.table() != nullptr) return value.table()->empty();
  if (value.boolean() != nullptr) return !*value.boolean() && key.neutral == "false";
  return value.text() != nullptr && *value.text() == key.neutral;
}

// Keys of the top and of its tables; what stands inside a list or under a free name belongs to that
// key.
void collect_keys(const Value& table, const std::string& path, std::vector<StatedKey>& keys) {
  for (const Entry& entry : *table.table()) {
    const std::string child = path.empty() ? entry.key : path + '.' + entry.key;
    const Key* const key = find_key(child);
    if (key->kind == Kind::table) {
      collect_keys(entry.value, child, keys);
    } else {
      keys.push_back({key, is_neutral(entry.value, *key), {0, entry.mark}});
    }
  }
}

PolicyDocument read(const Value& tree, std::string file, Problems& problems) {
  const Section top{&tree, problems};
  PolicyDocument document;
  document.sources.push_back({std::move(file), Origin::user});
  document.extends = top.texts("extends").items;
  document.isolation =
      choice_of(top, "isolation", {Isolation::process, Isolation::gvisor, Isolation::microvm});
  document.require = parse_require(top);
  document.filesystem = parse_filesystem(top.section("filesystem"));
  document.environment = parse_environment(top.section("environment"));
  document.process = parse_process(top.section("process"));
  document.network = parse_network(top.section("network"));
  document.resources = parse_resources(top.section("resources"));
  document.credentials = parse_credentials(top.section("credentials"));
  document.profile =
      choice_of(top.section("syscalls"), "profile", {Profile::strict, Profile::compat});
  document.record = top.section("monitor").texts("record");
  document.output = {top.section("output").texts("scan"), top.section("output").text("on_finding")};
  document.responses = parse_responses(top);
  document.tools = parse_tools(top.section("tools"));
  collect_keys(tree, "", document.keys);
  document.written.json = to_json(tree);
  return document;
}

}  // namespace

Syntax syntax_of(std::string_view file, std::string_view text) noexcept {
  if (file.ends_with(".json")) return Syntax::json;
  if (file.ends_with(".toml")) return Syntax::toml;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' ? Syntax::json : Syntax::toml;
}

Result<PolicyDocument> parse(const Value& tree, std::string file, Problems& problems) {
  check_shape(tree, problems);
  if (!problems.empty()) return problems.to_error();
  PolicyDocument whole = read(tree, std::move(file), problems);
  if (!problems.empty()) return problems.to_error();
  return whole;
}

Result<PolicyDocument> parse(std::string_view text, std::string file, Syntax syntax,
                             Problems* problems) {
  Problems found{file};
  Result<PolicyDocument> document = [&]() -> Result<PolicyDocument> {
    TRY(const Value tree, syntax == Syntax::json ? read_json(text, found) : read_toml(text, found));
    return parse(tree, std::move(file), found);
  }();
  if (problems != nullptr) problems->add_all(found);
  return document;
}

}  // namespace cordon::policy
