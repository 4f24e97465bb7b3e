// SPDX-License-Identifier: Apache-2.0
// Takes typed values out of a table whose shape has been checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/document.h"
#include "policy/value.h"

namespace cordon::policy {

// Views a table (or nothing) and the problems of its document. Both outlive it.
class Section {
 public:
  Section(const Value* table, Problems& problems) : table_{table}, problems_{problems} {}

  const Value* find(std::string_view name) const {
    return table_ == nullptr ? nullptr : table_->find(name);
  }
  Section section(std::string_view name) const { return {find(name), problems_}; }
  Place place() const { return {0, table_ == nullptr ? Mark{} : table_->mark}; }
  Problems& problems() const { return problems_; }

  Maybe<bool> boolean(std::string_view name) const;
  Maybe<std::uint64_t> integer(std::string_view name) const;
  Maybe<std::uint64_t> size(std::string_view name) const;
  Maybe<std::string> text(std::string_view name) const;
  Listed<Stated<std::string>> texts(std::string_view name) const;
  std::vector<std::string> plain_texts(std::string_view name) const;
  Listed<Port> ports(std::string_view name) const;
  // All members of the table, or none.
  const Value::Table& entries() const;
  // The tables of a list, or none.
  std::vector<Section> tables(std::string_view name) const;

  // The text of `name`; where it is absent a problem says that this kind of item needs it.
  std::string required(std::string_view name, std::string_view item) const;

  void problem(std::string_view name, std::string message) const;

 private:
  const Value* table_;
  Problems& problems_;
};

// One value of a closed set, told by its text. Before: the shape was checked, so the text is one of
// them.
template <class E>
Maybe<E> choice_of(const Section& section, std::string_view name, std::initializer_list<E> all) {
  const auto text = section.text(name);
  if (!text) return std::nullopt;
  for (const E one : all) {
    if (to_string(one) == text->value) return Stated<E>{one, text->place};
  }
  return std::nullopt;
}

}  // namespace cordon::policy
