// SPDX-License-Identifier: Apache-2.0
#include "policy/toml_edit.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "policy/toml_text.h"
#include "policy/value.h"

namespace cordon::policy {
namespace {

struct KeyWords {
  std::string section;  // "network"
  std::string name;     // "egress_allowlist"
  std::string of_item;  // "methods", or empty
};

Result<KeyWords> key_words(std::string_view key) {
  const auto dot = key.find('.');
  if (dot == std::string_view::npos) return Error{Errc::invalid, "a key without a section"};
  KeyWords words{.section = std::string{key.substr(0, dot)},
                 .name = std::string{key.substr(dot + 1)},
                 .of_item = {}};
  if (const auto item = words.name.find("[]."); item != std::string::npos) {
    words.of_item = words.name.substr(item + 3);
    words.name.resize(item);
  }
  return words;
}

std::string with(std::string_view text, std::size_t at, std::string_view more) {
  std::string made{text};
  return made.insert(at, more);
}

Error by_hand(std::string_view key, std::string_view why) {
  return {Errc::invalid, fmt::format("{}: {}: a person has to edit it", key, why)};
}

bool is_header(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] == '[' && indent_before(text, at).has_value();
}

// At the end of what is between brackets or braces.
std::string put_last(std::string_view text, std::size_t at, std::string_view item) {
  const Inside inside = inside_of(text, at);
  if (!inside.last) {
    const bool braces = text[at] == '{';
    return with(text, at + 1, braces ? fmt::format(" {} ", item) : std::string{item});
  }
  const auto indent = indent_before(text, inside.first);
  if (!indent) return with(text, *inside.last, fmt::format(", {}", item));
  // One item in each line. What is said behind the last stays behind it.
  const std::size_t behind = inside.comma.value_or(*inside.last);
  const std::size_t line = end_of_line(text, behind);
  const bool closes_in_line = inside.close < line;
  if (closes_in_line) return with(text, *inside.last, fmt::format(",\n{}{}", *indent, item));
  std::string made = with(text, line, fmt::format("\n{}{},", *indent, item));
  return inside.comma ? made : made.insert(*inside.last, ",");
}

// A key that the table at `at` does not have yet.
std::string put_key(std::string_view text, std::size_t at, std::string_view name,
                    std::string_view value) {
  const std::string line = fmt::format("{} = {}", name, value);
  if (text[at] == '{') return put_last(text, at, line);
  const std::size_t end = end_of_line(text, at);
  return with(text, end, "\n" + line);
}

std::string put_section(std::string_view text, const KeyWords& words, std::string_view value) {
  std::string made{text};
  if (!made.empty() && !made.ends_with('\n')) made += '\n';
  return made + fmt::format("\n[{}]\n{} = {}\n", words.section, words.name, value);
}

// `value` is what stands at the key, or null.
Result<std::string> changed(std::string_view text, const Change& change, const Value* value,
                            std::size_t table, std::string_view name) {
  const bool adds = change.edit == Edit::add;
  if (value == nullptr) {
    return put_key(text, table, name, adds ? fmt::format("[{}]", change.value) : change.value);
  }
  const std::size_t at = offset_of(text, value->mark);
  if (is_header(text, at)) return by_hand(change.key, "it is written as a table of its own");
  if (adds) {
    if (value->list() == nullptr) return by_hand(change.key, "it is no list");
    return put_last(text, at, change.value);
  }
  std::string made{text};
  return made.replace(at, end_of_value(text, at) - at, change.value);
}

std::optional<std::uint32_t> line_of(const std::string& at) {
  const auto colon = at.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::uint32_t line = 0;
  const auto [end, error] = std::from_chars(at.data() + colon + 1, at.data() + at.size(), line);
  if (error != std::errc{} || end != at.data() + at.size()) return std::nullopt;
  return line;
}

Result<std::string> changed_item(std::string_view text, const Change& change, const Value& list,
                                 const KeyWords& words) {
  const auto line = line_of(change.at);
  const Value* item = nullptr;
  if (list.list() == nullptr) return by_hand(change.key, "it is no list");
  for (const Value& each : *list.list()) {
    if (each.mark.line != line) continue;
    if (item != nullptr) return by_hand(change.key, "two rules stand in one line");
    item = &each;
  }
  if (item == nullptr || item->table() == nullptr) {
    return by_hand(change.key, fmt::format("no rule with keys begins at {}", change.at));
  }
  return changed(text, change, item->find(words.of_item), offset_of(text, item->mark),
                 words.of_item);
}

Result<std::string> changed_text(std::string_view text, const Change& change, const Value& tree) {
  TRY(const KeyWords words, key_words(change.key));
  const Value* const section = tree.find(words.section);
  const Value* const value =
      section != nullptr && section->table() != nullptr ? section->find(words.name) : nullptr;
  if (!words.of_item.empty()) {
    if (value == nullptr) return by_hand(change.key, "there is no such list");
    return changed_item(text, change, *value, words);
  }
  if (section == nullptr) {
    return put_section(text, words,
                       change.edit == Edit::add ? fmt::format("[{}]", change.value) : change.value);
  }
  const std::size_t at = offset_of(text, section->mark);
  const bool implied = text.substr(at).starts_with("[[");
  if (value == nullptr && implied) return by_hand(change.key, "its section has no header");
  if (value != nullptr || text[at] == '{' || is_header(text, at)) {
    return changed(text, change, value, at, words.name);
  }
  // The section is there by keys with dots only, and no header may follow them.
  const std::size_t line = begin_of_line(text, at);
  const std::string list = fmt::format("[{}]", change.value);
  return with(text, line,
              fmt::format("{}.{} = {}\n", words.section, words.name,
                          change.edit == Edit::add ? list : change.value));
}

}  // namespace

Result<std::string> edited(std::string_view text, const Change& change) {
  if (change.edit != Edit::add && change.edit != Edit::set) {
    return by_hand(change.key, "nothing is taken away");
  }
  Problems problems{change.file};
  TRY(const Value tree, read_toml(text, problems));
  TRY(std::string made, changed_text(text, change, tree));
  Problems after{change.file};
  if (!read_toml(made, after)) return by_hand(change.key, "the text is spelled in an unusual way");
  return made;
}

}  // namespace cordon::policy
