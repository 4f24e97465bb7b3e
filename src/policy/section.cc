// SPDX-License-Identifier: Apache-2.0
#include "policy/section.h"

#include <fmt/format.h>

#include "policy/shape.h"
#include "policy/text.h"

namespace cordon::policy {

Maybe<bool> Section::boolean(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr) return std::nullopt;
  return Stated<bool>{*value->boolean(), {0, value->mark}};
}

Maybe<std::uint64_t> Section::integer(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr) return std::nullopt;
  return Stated<std::uint64_t>{static_cast<std::uint64_t>(*value->integer()), {0, value->mark}};
}

Maybe<std::uint64_t> Section::size(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::int64_t bytes =
      value->integer() != nullptr ? *value->integer() : size_from(*value->text()).value_or(0);
  return Stated<std::uint64_t>{static_cast<std::uint64_t>(bytes), {0, value->mark}};
}

Maybe<std::string> Section::text(std::string_view name) const {
  const Value* const value = find(name);
  if (value == nullptr || value->text() == nullptr) return std::nullopt;
  return Stated<std::string>{*value->text(), {0, value->mark}};
}

Listed<Stated<std::string>> Section::texts(std::string_view name) const {
  Listed<Stated<std::string>> listed;
  const Value* const value = find(name);
  if (value == nullptr) return listed;
  listed.place = Place{0, value->mark};
  for (const Value& item : *value->list()) {
    for (const auto& known : listed.items) {
      if (known.value == *item.text()) {
        problems_.add(item.mark, fmt::format("`{}`: {} stands there twice; remove one", name,
                                             in_quotes(*item.text())));
      }
    }
    listed.items.push_back({*item.text(), {0, item.mark}});
  }
  return listed;
}

std::vector<std::string> Section::plain_texts(std::string_view name) const {
  std::vector<std::string> plain;
  auto listed = texts(name);
  if (listed.place && listed.items.empty()) {
    problem(name,
            fmt::format("`{}`: an empty list allows nothing; leave it out to allow all", name));
  }
  plain.reserve(listed.items.size());
  for (auto& item : listed.items) plain.push_back(std::move(item.value));
  return plain;
}

Listed<Port> Section::ports(std::string_view name) const {
  Listed<Port> listed;
  const Value* const value = find(name);
  if (value == nullptr) return listed;
  listed.place = Place{0, value->mark};
  if (const std::string* const text = value->text()) {
    if (*text == "every_port") listed.items.push_back({kAnyPort, {0, value->mark}});
    return listed;  // "deny_all": none
  }
  for (const Value& item : *value->list()) {
    listed.items.push_back({static_cast<std::uint16_t>(*item.integer()), {0, item.mark}});
  }
  return listed;
}

const Value::Table& Section::entries() const {
  static const Value::Table kNone;
  const Value::Table* const entries = table_ == nullptr ? nullptr : table_->table();
  return entries == nullptr ? kNone : *entries;
}

std::vector<Section> Section::tables(std::string_view name) const {
  std::vector<Section> all;
  if (const Value* const value = find(name)) {
    for (const Value& item : *value->list()) all.emplace_back(&item, problems_);
  }
  return all;
}

std::string Section::required(std::string_view name, std::string_view item) const {
  if (auto given = text(name)) return std::move(given->value);
  problems_.add(place().mark, fmt::format("{} needs `{}`", item, name));
  return {};
}

void Section::problem(std::string_view name, std::string message) const {
  const Value* const value = find(name);
  problems_.add(value == nullptr ? place().mark : value->mark, std::move(message));
}

}  // namespace cordon::policy
