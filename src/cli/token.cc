// SPDX-License-Identifier: Apache-2.0
// cordon token: key, mint, attenuate, inspect and revoke.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/token_verbs.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const token::OperationRow& row : token::all_operations()) names.emplace_back(row.name);
  return names;
}

void add_caveats(CLI::App& verb, TokenOptions& options) {
  verb.add_option("--tenant", options.tenant, "the tenant whose things it is for");
  add_caveat_flags(verb, options);
}

void add_source(CLI::App& verb, TokenOptions& options) {
  verb.add_option("--token-file", options.token_file,
                  "the token; by default CORDON_TOKEN, else standard input");
  verb.add_option("WORD", options.stray, "nothing: a token is no argument")->group("");
}

void add_json(CLI::App& verb, TokenOptions& options) {
  verb.add_flag("--json", options.json, "print JSON");
}

}  // namespace

void add_caveat_flags(CLI::App& verb, TokenOptions& options) {
  // One value for each flag, so that none swallows a word behind it.
  const auto each = [&](const char* name, std::vector<std::string>& values, const char* meaning) {
    return verb.add_option(name, values, meaning)->expected(1)->take_all()->allow_extra_args(false);
  };
  each("--operation", options.operations, "what it may be used for; may be repeated")
      ->check(CLI::IsMember(operation_names()));
  each("--sandbox", options.sandboxes, "a sandbox that it is for; may be repeated");
  each("--path", options.paths, "only files below this path; may be repeated: all of them hold");
  verb.add_option("--ceiling", options.ceiling, "a policy that no sandbox made with it exceeds");
  each("--budget", options.budgets, "NAME=NUMBER that it may use up; may be repeated");
}

void add_token(CLI::App& app, Context& context) {
  CLI::App* const group = app.add_subcommand("token", "make, narrow and read capability tokens");
  group->require_subcommand(1);
  // Lives as long as the command line: its callbacks refer to it.
  const auto options = std::make_shared<TokenOptions>();

  CLI::App* const key = group->add_subcommand("key", "make a key file");
  key->add_option("FILE", options->file, "the new file; it must not exist")->required();
  CLI::Option* const from =
      key->add_option("--from", options->from, "derive it from this root key, for one audience");
  from->needs(key->add_option("--audience", options->audience, "a node's name")->needs(from));
  key->add_option("--number", options->number, "the key's number, other than that of the last")
      ->check(CLI::Range(0U, 255U))
      ->capture_default_str()
      ->excludes(from);
  add_json(*key, *options);
  key->callback([options, &context] { token_key(*options, context); });

  CLI::App* const mint = group->add_subcommand("mint", "make a token");
  mint->add_option("--key", options->key, "the file of a root or an audience key")->required();
  mint->add_option("--audience", options->audience, "the node that it is for");
  mint->add_flag("--operator", options->is_operator,
                 "it may act for every tenant, and on the node itself");
  add_caveats(*mint, *options);
  mint->add_option("--expires", options->expires,
                   "how long it holds: like 90s, 10m, 2h or 30d (24h); never: an operator's only");
  add_json(*mint, *options);
  mint->add_flag("--e2b", options->for_e2b, "as clients of E2B take it: e2b_ and digits");
  mint->callback([options, &context] { token_mint(*options, context); });

  CLI::App* const attenuate =
      group->add_subcommand("attenuate", "make a narrower token of a token; needs no key");
  add_source(*attenuate, *options);
  add_caveats(*attenuate, *options);
  attenuate->add_option("--expires", options->expires, "how long it holds: like 90s, 10m or 2h");
  add_json(*attenuate, *options);
  attenuate->callback([options, &context] { token_attenuate(*options, context); });

  CLI::App* const inspect = group->add_subcommand("inspect", "say what a token is for");
  add_source(*inspect, *options);
  inspect->add_option("--key", options->key, "also verify it with this key");
  add_json(*inspect, *options);
  inspect->callback([options, &context] { token_inspect(*options, context); });

  add_token_revoke(*group, context);
}

}  // namespace cordon::cli
