// SPDX-License-Identifier: Apache-2.0
// cordon fleet quota: how many sandboxes a tenant may have in the whole fleet.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/fleet_client.h"
#include "cli/node_words.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

struct QuotaFlags {
  NodeOptions node;
  std::string tenant;  // empty: of all
  std::optional<std::uint64_t> total;
  std::vector<std::uint16_t> homes;
  bool removes = false;
};

Row quota_row(const boost::json::value& quota) {
  std::string homes;
  for (const boost::json::value& home : list_at(quota, "homes")) {
    if (!home.is_string()) continue;
    homes += (homes.empty() ? "" : ",") + std::string{home.get_string()};
  }
  const auto number = [&quota](std::string_view name) {
    const auto found = number_at(quota, name);
    return found ? std::to_string(*found) : std::string{"0"};
  };
  return {terminal::printable(text_at(quota, "tenant")), number("total"),
          terminal::printable(homes), number("free")};
}

std::string quotas_text(const boost::json::array& quotas) {
  std::vector<Row> rows{{"TENANT", "TOTAL", "HOMES", "FREE"}};
  for (const boost::json::value& quota : quotas) rows.push_back(quota_row(quota));
  return table_text(rows);
}

// What is asked of the gateway.
NodeRequest request_of(const QuotaFlags& flags) {
  if (flags.tenant.empty()) return {.path = "/v1/fleet/quotas"};
  const std::string path = "/v1/fleet/quotas/" + flags.tenant;
  if (flags.removes) return {.method = "DELETE", .path = path};
  if (!flags.total) return {.path = path};
  boost::json::array homes;
  for (const std::uint16_t home : flags.homes) homes.emplace_back(home);
  return {.method = "PUT",
          .path = path,
          .body = boost::json::serialize(
              boost::json::object{{"total", *flags.total}, {"homes", std::move(homes)}})};
}

void quota(const QuotaFlags& flags, Context& context) {
  const bool is_name =
      flags.tenant.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  if (!is_name) {
    return fail_typed(context, Error{Errc::invalid, "a tenant is named with a-z, 0-9 and hyphens"});
  }
  if (flags.total && flags.homes.empty()) {
    return fail_typed(context, Error{Errc::invalid,
                                     "a quota needs --homes, the cells that it is shared by: "
                                     "cordon fleet quota acme 100 --homes 1,2"});
  }
  const auto answer = ask_or_tell(flags.node, request_of(flags), context);
  if (!answer) return;
  if (flags.removes) {
    context.out << (flags.node.json ? std::string{"{}\n"}
                                    : flags.tenant + " has no quota of the fleet any more\n");
    return;
  }
  if (flags.node.json) {
    context.out << answer->body << '\n';
    return;
  }
  const boost::json::array one{answer->json};
  context.out << quotas_text(flags.tenant.empty() ? list_at(answer->json, "quotas") : one);
}

}  // namespace

void add_fleet_quota(CLI::App& group, Context& context) {
  auto flags = std::make_shared<QuotaFlags>();
  CLI::App* const verb = group.add_subcommand(
      "quota", "shows, sets or removes how many sandboxes a tenant may have in the whole fleet");
  CLI::Option* const tenant = verb->add_option("TENANT", flags->tenant, "by default all are shown");
  CLI::Option* const total =
      verb->add_option("TOTAL", flags->total, "so many at once; without it the quota is shown");
  verb->add_option("--homes", flags->homes, "The cells that have a share of their own, like 1,2")
      ->delimiter(',')
      ->needs(total);
  verb->add_flag("--remove", flags->removes, "No quota of the fleet any more")
      ->needs(tenant)
      ->excludes(total);
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { quota(*flags, context); });
}

}  // namespace cordon::cli
