// SPDX-License-Identifier: Apache-2.0
// cordon token revoke: a node takes a token back, and all that were made of it.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/node_client.h"
#include "cli/node_words.h"
#include "cli/run_options.h"
#include "cli/text_file.h"
#include "cli/token_verbs.h"
#include "token/token.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct RevokeFlags {
  NodeOptions node;
  std::string file;
  std::string id;
  std::string expires;
};

Result<NodeRequest> request_of(const RevokeFlags& flags) {
  NodeRequest request{.method = "POST", .path = "/v1/tokens/revoke"};
  if (flags.file.starts_with(token::kTokenPrefix)) TRY_DO(refuse_stray({.stray = {flags.file}}));
  if (!flags.file.empty()) {
    TRY(std::string token, read_text_file(flags.file));
    if (token.ends_with('\n')) token.pop_back();
    if (const auto read = token::read(token); !read) return Error{read.error()}.with(flags.file);
    request.body = json::serialize(json::object{{"token", std::move(token)}});
  }
  if (!flags.id.empty()) request.path += "?id=" + escaped_for_query(flags.id);
  if (!flags.expires.empty()) {
    TRY(const std::uint64_t seconds, parse_duration(flags.expires));
    request.path += fmt::format("&seconds={}", seconds);
  }
  return request;
}

void revoke(const RevokeFlags& flags, Context& context) {
  auto request = request_of(flags);
  if (!request) return fail(context, request.error());
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  const auto answer = ask_now(*node, *std::move(request));
  if (!answer) return fail(context, answer.error());
  if (!answer->is_good()) return refuse(context, flags.node, *answer);
  if (flags.node.json) context.out << "{}\n";
}

}  // namespace

void add_token_revoke(CLI::App& group, Context& context) {
  auto flags = std::make_shared<RevokeFlags>();
  CLI::App* const verb =
      group.add_subcommand("revoke", "have a node take a token back, and all that were made of it");
  CLI::Option* const file = verb->add_option(
      "FILE", flags->file, "the token; -: standard input; by default the one that asks");
  CLI::Option* const id =
      verb->add_option("--id", flags->id, "its revocation id, of inspect; for an operator")
          ->excludes(file);
  verb->add_option("--expires", flags->expires,
                   "with --id: how long such tokens can live, like 24h; by default for ever")
      ->needs(id);
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { revoke(*flags, context); });
}

}  // namespace cordon::cli
