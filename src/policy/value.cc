// SPDX-License-Identifier: Apache-2.0
#include "policy/value.h"

#include <algorithm>

namespace cordon::policy {

const Value* Value::find(std::string_view key) const {
  const auto& entries = *table();
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &found->value;
}

bool Value::same(const Value& other) const {
  if (data.index() != other.data.index()) return false;
  if (const auto* const mine = list()) {
    return std::ranges::equal(*mine, *other.list(),
                              [](const Value& a, const Value& b) { return a.same(b); });
  }
  if (const auto* const mine = table()) {
    return mine->size() == other.table()->size() &&
           std::ranges::all_of(*mine, [&](const Entry& entry) {
             const Value* const theirs = other.find(entry.key);
             return theirs != nullptr && entry.value.same(*theirs);
           });
  }
  if (const auto* const mine = boolean()) return *mine == *other.boolean();
  if (const auto* const mine = integer()) return *mine == *other.integer();
  if (const auto* const mine = number()) return *mine == *other.number();
  if (const auto* const mine = text()) return *mine == *other.text();
  return true;
}

std::string_view noun_of(const Value& value) {
  switch (value.data.index()) {
    case 0:
      return "null";
    case 1:
      return "true or false";
    case 2:
      return "a whole number";
    case 3:
      return "a number with a fraction";
    case 4:
      return "a text";
    case 5:
      return "a list";
    default:
      return "a table";
  }
}

}  // namespace cordon::policy
