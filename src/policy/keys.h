// SPDX-License-Identifier: Apache-2.0
// The vocabulary of policies as data: every key, its shape, its meaning and the version that
// enforces it. The parser, the JSON Schema and docs/policy.md are held against this table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cordon::policy {

enum class Kind : std::uint8_t {
  boolean,
  integer,  // `least` to `most`
  text,
  choice,         // one of `choices`
  size,           // "512Mi" or a whole number of bytes, `least` to `most`
  cpus,           // "2", "0.5" or a whole number
  texts,          // list of text
  choices,        // list, each one of `choices`
  ports,          // list of port numbers
  text_or_ports,  // one of `choices`, or a list of ports
  table,
  tables,          // list of tables
  text_or_tables,  // list whose items are texts or tables
  texts_by_name,   // table of texts under free names
  tables_by_name,  // table of tables under free names
  any,             // a JSON value with rules of its own
};

struct Key {
  // Parts separated by dots; `[]` after a part: each item of the list; `*`: a free name.
  // "network.egress_allowlist[].host", "tools.*.allow"
  std::string_view path;
  Kind kind;
  std::string_view meaning;    // half a sentence, for the schema and the docs
  std::string_view choices{};  // separated by spaces
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string_view
      neutral{};  // the value under which nothing has to be enforced; empty: there is none
  std::string_view enforced{};  // the first version that enforces it; empty: none yet
};

std::span<const Key> all_keys() noexcept;

// Null when there is no such key.
const Key* find_key(std::string_view path) noexcept;

// Path of the member `name` of the table at `parent` (empty: the top).
bool is_child_of(const Key& key, std::string_view parent) noexcept;
std::string_view name_of(const Key& key) noexcept;

// The words of `choices`, one by one.
std::vector<std::string_view> choices_of(const Key& key);

// True when this version enforces the key.
bool is_enforced(const Key& key) noexcept;

}  // namespace cordon::policy
