// SPDX-License-Identifier: Apache-2.0
// cordon apikey: long-lived keys of a node, made, listed and deleted.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/node_client.h"
#include "cli/node_words.h"
#include "cli/token_verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct KeyFlags {
  NodeOptions node;
  TokenOptions caveats;
  std::string label;
  std::vector<std::string> ids;
  bool for_e2b = false;
};

Result<json::object> request_of(const KeyFlags& flags) {
  TRY(auto caveats, caveats_of(flags.caveats, wall_seconds()));
  TRY_DO(add_ceiling(flags.caveats, caveats));
  json::array list;
  for (const token::Caveat& caveat : caveats) list.push_back(caveat_json(caveat));
  json::object request{{"label", flags.label}, {"caveats", std::move(list)}};
  if (flags.caveats.is_operator) request["operator"] = true;
  return request;
}

// The key alone, so that it can go where it is needed.
void create(const KeyFlags& flags, Context& context) {
  const auto request = request_of(flags);
  if (!request) return fail_typed(context, request.error());
  const auto answer = ask_or_tell(
      flags.node, {.method = "POST", .path = "/v1/keys", .body = json::serialize(*request)},
      context);
  if (!answer) return;
  if (flags.node.json) {
    context.out << answer->body << '\n';
  } else {
    context.out << text_at(answer->json, flags.for_e2b ? "e2b_key" : "key") << '\n';
  }
}

void list(const KeyFlags& flags, Context& context) {
  const auto answer = ask_or_tell(flags.node, {.path = "/v1/keys"}, context);
  if (!answer) return;
  if (flags.node.json) {
    context.out << answer->body << '\n';
    return;
  }
  std::vector<Row> rows{{"ID", "LABEL", "TENANT", "CREATED", "EXPIRES"}};
  for (const json::value& key : list_at(answer->json, "keys")) {
    const std::string tenant = text_at(key, "tenant");
    const std::string expires = text_at(key, "expires");
    rows.push_back({terminal::printable(text_at(key, "id")),
                    terminal::printable(text_at(key, "label")),
                    tenant.empty() ? "(operator)" : terminal::printable(tenant),
                    terminal::printable(text_at(key, "created")),
                    expires.empty() ? "never" : terminal::printable(expires)});
  }
  context.out << table_text(rows);
}

void remove(const KeyFlags& flags, Context& context) {
  for (const std::string& id : flags.ids) {
    const auto answer = ask_or_tell(
        flags.node, {.method = "DELETE", .path = "/v1/keys/" + escaped_for_query(id)}, context);
    if (answer && !flags.node.json) context.out << terminal::printable(id) << '\n';
  }
}

}  // namespace

void add_apikey(CLI::App& app, Context& context) {
  auto flags = std::make_shared<KeyFlags>();
  CLI::App* const group =
      app.add_subcommand("apikey", "Long-lived keys of a node: make, list and delete them");
  group->group(kNodeVerbs);
  group->require_subcommand(1);

  CLI::App* const make = group->add_subcommand("create", "make a key and print it, once");
  make->add_option("--label", flags->label, "what it is for");
  make->add_flag("--operator", flags->caveats.is_operator,
                 "it may act for every tenant, and on the node itself");
  make->add_flag("--e2b", flags->for_e2b, "print it as clients of E2B want theirs: E2B_API_KEY");
  add_caveat_flags(*make, flags->caveats);
  make->add_option("--expires", flags->caveats.expires,
                   "how long it holds: like 90s, 10m, 2h or 30d; by default as long as what makes "
                   "it");
  add_node_flags(*make, flags->node);
  make->callback([flags, &context] { create(*flags, context); });

  CLI::App* const ls = group->add_subcommand("ls", "list keys, never the keys themselves");
  add_node_flags(*ls, flags->node);
  ls->callback([flags, &context] { list(*flags, context); });

  CLI::App* const rm = group->add_subcommand("rm", "delete keys, and all that were made with them");
  rm->add_option("ID", flags->ids, "Their ids, of ls")->required();
  add_node_flags(*rm, flags->node);
  rm->callback([flags, &context] { remove(*flags, context); });
}

}  // namespace cordon::cli
