// SPDX-License-Identifier: Apache-2.0
// TOML to a tree, through toml++.
#include <algorithm>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32
#include <fmt/format.h>
#include <toml++/toml.h>

#include "policy/text.h"
#include "policy/value.h"

namespace cordon::policy {
namespace {

Mark mark_of(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

class Reader {
 public:
  explicit Reader(Problems& problems) : problems_{problems} {}

  Value table(const toml::table& from, Mark at, int depth) {
    Value::Table entries;
    if (too_many(from.size(), at)) return {std::monostate{}, at};
    entries.reserve(from.size());
    for (const auto& [key, node] : from) {
      const Mark mark = mark_of(key.source());
      if (has_control_character(key.str()))
        problems_.add(mark, "control characters are not allowed in a key");
      entries.push_back({std::string{key.str()}, mark, value(node, mark, depth + 1)});
    }
    // toml++ sorts by key; a reader expects the order of the file.
    std::ranges::sort(entries, {},
                      [](const Entry& e) { return std::pair{e.mark.line, e.mark.column}; });
    return {std::move(entries), at};
  }

 private:
  Value value(const toml::node& node, Mark key, int depth) {
    Mark mark = mark_of(node.source());
    if (mark.line == 0) mark = key;  // a table that only dotted keys imply
    if (depth > kDeepestValue) {
      problems_.add(mark, fmt::format("nested deeper than {} levels", kDeepestValue));
      return {std::monostate{}, mark};
    }
    if (const auto* const from = node.as_table()) return table(*from, mark, depth);
    if (const auto* const from = node.as_array()) {
      if (too_many(from->size(), mark)) return {std::monostate{}, mark};
      Value::List list;
      list.reserve(from->size());
      for (const toml::node& item : *from) list.push_back(value(item, mark, depth + 1));
      return {std::move(list), mark};
    }
    if (const auto* const from = node.as_string()) return text(from->get(), mark);
    if (const auto* const from = node.as_integer()) return {from->get(), mark};
    if (const auto* const from = node.as_floating_point()) return {from->get(), mark};
    if (const auto* const from = node.as_boolean()) return {from->get(), mark};
    problems_.add(mark, "dates and times have no use in a policy; write a text in quotes");
    return {std::monostate{}, mark};
  }

  bool too_many(std::size_t count, Mark mark) {
    if (count <= kMostItems) return false;
    problems_.add(mark, fmt::format("more than {} items in one list or table", kMostItems));
    return true;
  }

  Value text(const std::string& from, Mark mark) {
    if (has_control_character(from))
      problems_.add(mark, "control characters are not allowed in a text");
    return {from, mark};
  }

  Problems& problems_;
};

}  // namespace

Result<Value> read_toml(std::string_view text, Problems& problems) {
  if (text.size() > kLargestDocument) {
    problems.add({}, fmt::format("larger than {} bytes", kLargestDocument));
    return problems.to_error();
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    problems.add(mark_of(error.source()), fmt::format("TOML: {}", printable(error.description())));
    return problems.to_error();
  }
  Value top = Reader{problems}.table(parsed.table(), {1, 1}, 0);
  if (!problems.empty()) return problems.to_error();
  return top;
}

}  // namespace cordon::policy
