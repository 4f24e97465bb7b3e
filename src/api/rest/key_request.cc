// SPDX-License-Identifier: Apache-2.0
#include "api/rest/key_request.h"

#include <array>

#include <fmt/format.h>

#include "base/utf8.h"
#include "node/api_keys.h"
#include "policy/keys.h"
#include "policy/section.h"
#include "policy/shape.h"
#include "policy/text.h"
#include "policy/value.h"
#include "token/layout.h"
#include "wire/requests.h"

namespace cordon::api {
namespace {

using policy::Key;
using policy::Kind;
using policy::Problems;
using policy::Section;
using policy::Value;

// A hundred years: what is meant to last for ever has no end.
constexpr std::int64_t kLongestLife = std::int64_t{36'500} * 24 * 3600;

constexpr std::array kKeys = {
    Key{"label", Kind::text, "what it is for, in the caller's own words"},
    Key{"operator", Kind::boolean, "for every tenant, and the node itself"},
    Key{"caveats", Kind::any, "what it may not do"},
    Key{"expires_in_seconds", Kind::integer, "how long it holds, from now", {}, 1, kLongestLife},
};

constexpr std::string_view kForms =
    "a caveat is an object with one of `tenant`, `operation`, `sandbox`, `path`, `ceiling`, "
    "`budget`, `expires`, as cordon token inspect --json prints it";

Result<std::vector<std::string>> texts_of(const Value& value) {
  std::vector<std::string> texts;
  if (value.list() == nullptr) return Error{Errc::invalid, "expected a list of texts"};
  for (const Value& each : *value.list()) {
    if (each.text() == nullptr) return Error{Errc::invalid, "expected a list of texts"};
    texts.push_back(*each.text());
  }
  return texts;
}

Result<std::string> text_of(const Value& value) {
  if (value.text() == nullptr) return Error{Errc::invalid, "expected a text"};
  return *value.text();
}

Result<std::uint64_t> number_in(const Value& value) {
  const std::int64_t* const number = value.integer();
  if (number == nullptr || *number < 0) {
    return Error{Errc::invalid, "expected a whole number from 0 on"};
  }
  return static_cast<std::uint64_t>(*number);
}

Result<token::Caveat> read_tenant(const Value& value) {
  TRY(std::string tenant, text_of(value));
  return token::Caveat{token::TenantIs{std::move(tenant)}};
}

Result<token::Caveat> read_operations(const Value& value) {
  TRY(const auto names, texts_of(value));
  token::OperationIn in;
  for (const std::string& name : names) {
    const auto operation = token::operation_from(name);
    if (!operation) {
      return Error{Errc::invalid, fmt::format("{} is no operation", policy::in_quotes(name))};
    }
    in.operations.add(*operation);
  }
  return token::Caveat{in};
}

Result<token::Caveat> read_sandboxes(const Value& value) {
  TRY(const auto ids, texts_of(value));
  token::SandboxIn in;
  for (const std::string& text : ids) {
    TRY(SandboxId id, SandboxId::parse(text));
    in.sandboxes.insert(std::move(id));
  }
  return token::Caveat{std::move(in)};
}

Result<token::Caveat> read_path(const Value& value) {
  TRY(std::string path, text_of(value));
  return token::Caveat{token::PathBelow{std::move(path)}};
}

Result<token::Caveat> read_ceiling(const Value& value) {
  TRY(std::string json, text_of(value));
  return token::Caveat{token::PolicyCeiling{std::move(json)}};
}

Result<token::Caveat> read_budget(const Value& value) {
  if (value.table() == nullptr || value.table()->size() != 1) {
    return Error{Errc::invalid, "expected an object with one quantity and its number"};
  }
  const policy::Entry& entry = value.table()->front();
  const auto quantity = token::quantity_from(std::string_view{entry.key});
  if (!quantity) {
    return Error{Errc::invalid, fmt::format("{} is no quantity", policy::in_quotes(entry.key))};
  }
  TRY(const std::uint64_t most, number_in(entry.value));
  return token::Caveat{token::BudgetOf{*quantity, most}};
}

Result<token::Caveat> read_expiry(const Value& value) {
  TRY(const std::uint64_t seconds, number_in(value));
  return token::Caveat{token::ExpiresAt{
      std::chrono::sys_seconds{std::chrono::seconds{static_cast<std::int64_t>(seconds)}}}};
}

constexpr std::pair<std::string_view, Result<token::Caveat> (*)(const Value&)> kReaders[] = {
    {"tenant", read_tenant},  {"operation", read_operations}, {"sandbox", read_sandboxes},
    {"path", read_path},      {"ceiling", read_ceiling},      {"budget", read_budget},
    {"expires", read_expiry},
};

Result<token::Caveat> read_caveat(const Value& value) {
  if (value.table() == nullptr || value.table()->size() != 1) {
    return Error{Errc::invalid, std::string{kForms}};
  }
  const policy::Entry& entry = value.table()->front();
  for (const auto& [name, read] : kReaders) {
    if (name != entry.key) continue;
    auto caveat = read(entry.value);
    if (!caveat) return std::move(caveat).error().with(fmt::format("`{}`", name));
    // Within its bounds, and a ceiling a policy.
    if (const auto encoded = token::encode(*caveat); !encoded) return encoded.error();
    return caveat;
  }
  return Error{Errc::invalid, std::string{kForms}};
}

void read_caveats(const Value& list, Problems& problems, std::vector<token::Caveat>& into) {
  if (list.list() == nullptr || list.list()->size() > token::kMostCaveats) {
    problems.add(list.mark, fmt::format("`caveats`: expected a list of at most {}; {}",
                                        token::kMostCaveats, kForms));
    return;
  }
  for (const Value& each : *list.list()) {
    auto caveat = read_caveat(each);
    if (!caveat) {
      problems.add(each.mark, caveat.error().text());
    } else {
      into.push_back(*std::move(caveat));
    }
  }
}

// One caveat, as read_caveat() reads it.
struct Write {
  wire::JsonWriter& json;

  void list(std::string_view name, const auto& texts) const {
    json.key(name);
    json.begin_array();
    for (const auto& text : texts) json.text(text);
    json.end_array();
  }
  void operator()(const token::TenantIs& caveat) const { json.text("tenant", caveat.tenant); }
  void operator()(const token::SandboxIn& caveat) const {
    std::vector<std::string> ids;
    ids.reserve(caveat.sandboxes.size());
    for (const SandboxId& id : caveat.sandboxes) ids.push_back(id.text());
    list("sandbox", ids);
  }
  void operator()(const token::OperationIn& caveat) const {
    std::vector<std::string_view> names;
    for (const token::OperationRow& row : token::all_operations()) {
      if (caveat.operations.has(row.operation)) names.push_back(row.name);
    }
    list("operation", names);
  }
  void operator()(const token::PathBelow& caveat) const { json.text("path", caveat.prefix); }
  void operator()(const token::PolicyCeiling& caveat) const { json.text("ceiling", caveat.json); }
  void operator()(const token::BudgetOf& caveat) const {
    json.key("budget");
    json.begin_object();
    json.number(token::to_string(caveat.quantity), caveat.most);
    json.end_object();
  }
  void operator()(const token::ExpiresAt& caveat) const {
    json.number("expires", static_cast<std::int64_t>(caveat.time.time_since_epoch().count()));
  }
};

}  // namespace

Result<KeyRequest> read_key_request(std::string_view text, std::chrono::sys_seconds now,
                                    Problems& problems) {
  TRY(const Value tree, policy::read_json(text, problems));
  policy::check_shape(tree, problems, kKeys);
  if (!problems.empty()) return problems.to_error();
  const Section top{&tree, problems};
  KeyRequest request;
  if (auto label = top.text("label")) request.label = std::move(label->value);
  if (request.label.size() > node::ApiKeys::kLongestLabel || !is_utf8(request.label)) {
    top.problem("label", fmt::format("`label`: at most {} bytes", node::ApiKeys::kLongestLabel));
  }
  if (const auto flag = top.boolean("operator")) request.is_operator = flag->value;
  if (const Value* const list = top.find("caveats")) {
    read_caveats(*list, problems, request.caveats);
  }
  if (const auto life = top.integer("expires_in_seconds")) {
    request.caveats.emplace_back(
        token::ExpiresAt{now + std::chrono::seconds{static_cast<std::int64_t>(life->value)}});
  }
  if (!problems.empty()) return problems.to_error();
  return request;
}

void write_caveats(wire::JsonWriter& json, const std::vector<token::Narrowed>& caveats) {
  json.begin_array();
  for (const token::Narrowed& each : caveats) {
    json.begin_object();
    std::visit(Write{json}, each.caveat);
    json.end_object();
  }
  json.end_array();
}

}  // namespace cordon::api
