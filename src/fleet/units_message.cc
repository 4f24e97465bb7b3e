// SPDX-License-Identifier: Apache-2.0
#include "fleet/units_message.h"

#include <fmt/format.h>

#include "policy/problem.h"
#include "policy/value.h"
#include "token/caveat.h"
#include "token/key.h"
#include "wire/json_writer.h"

namespace cordon::fleet {
namespace {

constexpr std::int64_t kMostWanted = 1024;

Error wrong_units(std::string_view key) {
  return Error{Errc::invalid, fmt::format("units: `{}` is missing or wrong", key)};
}

Result<policy::Value> read_object(std::string_view text) {
  policy::Problems problems{"units"};
  auto read = policy::read_json(text, problems);
  if (!read) return Error{Errc::invalid, read.error().text()};
  if (read->table() == nullptr) return wrong_units("{");
  return read;
}

Result<std::uint64_t> number_in_units(const policy::Value& of, std::string_view key) {
  const policy::Value* const found = of.find(key);
  const std::int64_t* const number = found == nullptr ? nullptr : found->integer();
  if (number == nullptr || *number < 0) return wrong_units(key);
  return static_cast<std::uint64_t>(*number);
}

Result<std::vector<wire::Unit>> units_in(const policy::Value& of, std::string_view key) {
  const policy::Value* const found = of.find(key);
  if (found == nullptr || found->list() == nullptr) return wrong_units(key);
  std::vector<wire::Unit> units;
  for (const policy::Value& one : *found->list()) {
    if (one.text() == nullptr) return wrong_units(key);
    TRY(const wire::Unit unit, wire::read_unit(*one.text()));
    units.push_back(unit);
  }
  return units;
}

Result<std::vector<NodeId>> nodes_in_units(const policy::Value& of, std::string_view key) {
  const policy::Value* const found = of.find(key);
  if (found == nullptr || found->list() == nullptr) return wrong_units(key);
  std::vector<NodeId> nodes;
  for (const policy::Value& one : *found->list()) {
    const auto node = one.text() == nullptr ? std::nullopt : node_named(*one.text());
    if (!node) return wrong_units(key);
    nodes.push_back(*node);
  }
  return nodes;
}

std::vector<std::string> texts_of(const std::vector<wire::Unit>& units) {
  std::vector<std::string> texts;
  texts.reserve(units.size());
  for (const wire::Unit& unit : units) texts.push_back(wire::to_text(unit));
  return texts;
}

}  // namespace

std::string to_json(const UnitsQuestion& question) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("tenant", question.tenant);
  json.number("wanted", std::uint64_t{question.wanted});
  json.texts("unused", texts_of(question.unused));
  json.end_object();
  return json.take();
}

Result<UnitsQuestion> read_units_question(std::string_view text) {
  TRY(const policy::Value read, read_object(text));
  const policy::Value* const tenant = read.find("tenant");
  if (tenant == nullptr || tenant->text() == nullptr ||
      !token::is_name(*tenant->text(), token::kLongestTenant)) {
    return wrong_units("tenant");
  }
  UnitsQuestion question{.tenant = *tenant->text()};
  TRY(const std::uint64_t wanted, number_in_units(read, "wanted"));
  if (wanted > kMostWanted) return wrong_units("wanted");
  question.wanted = static_cast<std::uint32_t>(wanted);
  TRY(question.unused, units_in(read, "unused"));
  return question;
}

std::string to_json(const UnitsAnswer& answer) {
  wire::JsonWriter json;
  json.begin_object();
  json.texts("units", texts_of(answer.units));
  json.number("allowed", answer.allowed);
  json.number("used", answer.used);
  std::vector<std::string> unread;
  unread.reserve(answer.unread.size());
  for (const NodeId node : answer.unread) unread.push_back(to_string(node));
  json.texts("unread", unread);
  json.end_object();
  return json.take();
}

Result<UnitsAnswer> read_units_answer(std::string_view text) {
  TRY(const policy::Value read, read_object(text));
  UnitsAnswer answer;
  TRY(answer.units, units_in(read, "units"));
  TRY(answer.allowed, number_in_units(read, "allowed"));
  TRY(answer.used, number_in_units(read, "used"));
  // An index of an earlier version does not say.
  if (read.find("unread") != nullptr) {
    TRY(answer.unread, nodes_in_units(read, "unread"));
  }
  return answer;
}

}  // namespace cordon::fleet
