// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/message.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/base64.h"

namespace cordon::api::e2b {
namespace {

std::string in_snake_case(std::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else {
      snake += c;
    }
  }
  return snake;
}

Error not_a(std::string_view name, std::string_view kind) {
  return Error{Errc::invalid, fmt::format("`{}` is not {}", name, kind)};
}

}  // namespace

Result<Message> Message::read(std::string_view text) {
  policy::Problems problems{"message"};
  auto top = policy::read_json(text.empty() ? "{}" : text, problems, policy::Controls::kept);
  if (!top) return Error{Errc::invalid, top.error().text()};
  if (top->table() == nullptr) return Error{Errc::invalid, "a message is an object"};
  return Message{*std::move(top)};
}

const policy::Value* Message::find(std::string_view name) const {
  const policy::Value* found = top_.find(name);
  if (found == nullptr) found = top_.find(in_snake_case(name));
  if (found == nullptr || std::holds_alternative<std::monostate>(found->data)) return nullptr;
  return found;
}

Result<std::optional<Message>> Message::object(std::string_view name) const {
  const policy::Value* const found = find(name);
  if (found == nullptr) return std::optional<Message>{};
  if (found->table() == nullptr) return not_a(name, "an object");
  return std::optional{Message{*found}};
}

Result<std::vector<Message>> Message::objects(std::string_view name) const {
  const policy::Value* const found = find(name);
  std::vector<Message> all;
  if (found == nullptr) return all;
  if (found->list() == nullptr) return not_a(name, "a list of objects");
  all.reserve(found->list()->size());
  for (const policy::Value& each : *found->list()) {
    if (each.table() == nullptr) return not_a(name, "a list of objects");
    all.push_back(Message{each});
  }
  return all;
}

Result<std::optional<std::string>> Message::text(std::string_view name) const {
  const policy::Value* const found = find(name);
  if (found == nullptr) return std::optional<std::string>{};
  if (found->text() == nullptr) return not_a(name, "a text");
  return std::optional{*found->text()};
}

Result<std::optional<bool>> Message::boolean(std::string_view name) const {
  const policy::Value* const found = find(name);
  if (found == nullptr) return std::optional<bool>{};
  if (found->boolean() == nullptr) return not_a(name, "true or false");
  return std::optional{*found->boolean()};
}

Result<std::optional<std::int64_t>> Message::number(std::string_view name) const {
  const policy::Value* const found = find(name);
  if (found == nullptr) return std::optional<std::int64_t>{};
  if (found->integer() != nullptr) return std::optional{*found->integer()};
  std::int64_t value = 0;
  const std::string* const text = found->text();
  if (text == nullptr || text->empty()) return not_a(name, "a whole number");
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) {
    return not_a(name, "a whole number");
  }
  return std::optional{value};
}

Result<std::vector<std::string>> Message::texts(std::string_view name) const {
  const policy::Value* const found = find(name);
  std::vector<std::string> all;
  if (found == nullptr) return all;
  if (found->list() == nullptr) return not_a(name, "a list of texts");
  all.reserve(found->list()->size());
  for (const policy::Value& each : *found->list()) {
    if (each.text() == nullptr) return not_a(name, "a list of texts");
    all.push_back(*each.text());
  }
  return all;
}

Result<std::map<std::string, std::string>> Message::texts_by_name(std::string_view name) const {
  const policy::Value* const found = find(name);
  std::map<std::string, std::string> all;
  if (found == nullptr) return all;
  if (found->table() == nullptr) return not_a(name, "an object of texts");
  for (const policy::Entry& each : *found->table()) {
    if (each.value.text() == nullptr) return not_a(name, "an object of texts");
    all.emplace(each.key, *each.value.text());
  }
  return all;
}

Result<std::optional<std::string>> Message::bytes(std::string_view name) const {
  TRY(auto written, text(name));
  if (!written) return std::optional<std::string>{};
  std::ranges::replace(*written, '-', '+');
  std::ranges::replace(*written, '_', '/');
  while (written->size() % 4 != 0) *written += '=';
  auto plain = from_base64(*written);
  if (!plain) return not_a(name, "base-64");
  return plain;
}

}  // namespace cordon::api::e2b
