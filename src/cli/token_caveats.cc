// SPDX-License-Identifier: Apache-2.0
// Options of the command line as caveats.
#include <charconv>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/policy_json.h"
#include "cli/run_options.h"
#include "cli/text_file.h"
#include "cli/token_verbs.h"
#include "policy/parse.h"
#include "policy/text.h"

namespace cordon::cli {
namespace {

// The policy of `file` as the shortest JSON: room in a token is scarce.
Result<token::Caveat> read_ceiling(const std::string& file) {
  TRY(const std::string text, read_text_file(file));
  policy::Problems problems{file};
  TRY(const auto value, policy_json(file, text, problems));
  std::string compact = boost::json::serialize(value);
  if (compact.size() > token::kLongestCeiling) {
    return Error{Errc::invalid, fmt::format("{}: {} bytes as JSON; a ceiling has at most {}", file,
                                            compact.size(), token::kLongestCeiling)};
  }
  // Here, so that the message has the place in the file.
  TRY(auto document, policy::parse(text, file, policy::syntax_of(file, text), &problems));
  TRY_DO(policy::check(std::move(document), policy::Origin::request, {}, &problems));
  return token::Caveat{token::PolicyCeiling{std::move(compact)}};
}

std::string quantity_names() {
  std::string names;
  for (const token::QuantityRow& row : token::all_quantities()) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

Result<token::Caveat> read_budget(const std::string& word) {
  const std::size_t equals = word.find('=');
  const auto quantity = token::quantity_from(std::string_view{word}.substr(0, equals));
  if (equals == std::string::npos || !quantity) {
    return Error{Errc::invalid, fmt::format("--budget {}: expected NAME=NUMBER, NAME one of {}",
                                            policy::in_quotes(word), quantity_names())};
  }
  const std::string_view digits = std::string_view{word}.substr(equals + 1);
  std::uint64_t most = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), most);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return Error{Errc::invalid, fmt::format("--budget {}: expected a whole number behind the =",
                                            policy::in_quotes(word))};
  }
  return token::Caveat{token::BudgetOf{*quantity, most}};
}

Result<token::Caveat> read_sandboxes(const std::vector<std::string>& words) {
  token::SandboxIn in;
  for (const std::string& word : words) {
    TRY(SandboxId id, SandboxId::parse(word));
    in.sandboxes.insert(std::move(id));
  }
  return token::Caveat{std::move(in)};
}

token::Caveat read_operations(const std::vector<std::string>& words) {
  token::OperationIn in;
  for (const std::string& word : words) {
    // The command line takes no other names.
    if (const auto operation = token::operation_from(word)) in.operations.add(*operation);
  }
  return in;
}

}  // namespace

Result<std::vector<token::Caveat>> caveats_of(const TokenOptions& options,
                                              std::chrono::sys_seconds now) {
  std::vector<token::Caveat> caveats;
  if (!options.tenant.empty()) caveats.emplace_back(token::TenantIs{options.tenant});
  if (!options.operations.empty()) caveats.push_back(read_operations(options.operations));
  if (!options.sandboxes.empty()) {
    TRY(token::Caveat caveat, read_sandboxes(options.sandboxes));
    caveats.push_back(std::move(caveat));
  }
  for (const std::string& path : options.paths) caveats.emplace_back(token::PathBelow{path});
  for (const std::string& budget : options.budgets) {
    TRY(token::Caveat caveat, read_budget(budget));
    caveats.push_back(std::move(caveat));
  }
  if (!options.expires.empty()) {
    TRY(const std::uint64_t seconds, parse_duration(options.expires));
    // At most a year: nothing overflows.
    caveats.emplace_back(
        token::ExpiresAt{now + std::chrono::seconds{static_cast<std::int64_t>(seconds)}});
  }
  for (const token::Caveat& caveat : caveats) TRY_DO(token::encode(caveat));
  return caveats;
}

Status add_ceiling(const TokenOptions& options, std::vector<token::Caveat>& caveats) {
  if (options.ceiling.empty()) return {};
  TRY(token::Caveat caveat, read_ceiling(options.ceiling));
  caveats.push_back(std::move(caveat));
  return {};
}

}  // namespace cordon::cli
