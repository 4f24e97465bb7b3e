// SPDX-License-Identifier: Apache-2.0
// A document as a tree, the same for TOML and JSON, with the place of every key and value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "policy/problem.h"

namespace cordon::policy {

struct Entry;

struct Value {
  using List = std::vector<Value>;
  using Table = std::vector<Entry>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table>
      data;  // monostate: JSON's null
  Mark mark;

  const bool* boolean() const { return std::get_if<bool>(&data); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  const double* number() const { return std::get_if<double>(&data); }
  const std::string* text() const { return std::get_if<std::string>(&data); }
  const List* list() const { return std::get_if<List>(&data); }
  const Table* table() const { return std::get_if<Table>(&data); }

  // Before: table() is not null. Null when it has no such key.
  const Value* find(std::string_view key) const;

  // Equal in content, wherever it stands.
  bool same(const Value& other) const;
};

struct Entry {
  std::string key;
  Mark mark;
  Value value;
};

// "a text", "a table": for messages.
std::string_view noun_of(const Value& value);

// Nothing that a person writes is larger or deeper; these bound the work that a hostile document
// can cause.
inline constexpr std::size_t kLargestDocument = 1 << 20;
inline constexpr std::size_t kMostItems = 4096;
inline constexpr int kDeepestValue = 16;

// Read `text` into a tree whose top is a table. What is wrong goes to `problems`: syntax, duplicate
// keys, values of no use in a policy (dates, numbers past 64 bits), control characters, size and
// depth. Nothing to return then.
Result<Value> read_toml(std::string_view text, Problems& problems);
// `controls`: a policy has no control characters; the arguments of a tool call have newlines.
enum class Controls : std::uint8_t { refused, kept };
Result<Value> read_json(std::string_view text, Problems& problems,
                        Controls controls = Controls::refused);

}  // namespace cordon::policy
