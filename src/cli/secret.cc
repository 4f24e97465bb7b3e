// SPDX-License-Identifier: Apache-2.0
// cordon secret: secrets that a node keeps for a tenant: put, listed by their names, deleted.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/node_client.h"
#include "cli/node_words.h"
#include "cli/text_file.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

struct SecretFlags {
  NodeOptions node;
  std::string name;
  std::string file;
};

std::string path_of(const std::string& name) { return "/v1/secrets/" + escaped_for_query(name); }

void put(const SecretFlags& flags, Context& context) {
  auto secret = read_text_file(flags.file.empty() ? "-" : flags.file);
  if (!secret) return fail(context, secret.error());
  // That of an editor, or of echo: none belongs to a secret.
  if (secret->ends_with('\n')) secret->pop_back();
  static_cast<void>(ask_or_tell(
      flags.node, {.method = "PUT", .path = path_of(flags.name), .body = *std::move(secret)},
      context));
}

void list(const SecretFlags& flags, Context& context) {
  const auto answer = ask_or_tell(flags.node, {.path = "/v1/secrets"}, context);
  if (!answer) return;
  if (flags.node.json) {
    context.out << answer->body << '\n';
    return;
  }
  for (const boost::json::value& each : list_at(answer->json, "secrets")) {
    context.out << terminal::printable(text_at(each, "name")) << '\n';
  }
}

void remove(const SecretFlags& flags, Context& context) {
  static_cast<void>(
      ask_or_tell(flags.node, {.method = "DELETE", .path = path_of(flags.name)}, context));
}

}  // namespace

void add_secret(CLI::App& app, Context& context) {
  auto flags = std::make_shared<SecretFlags>();
  CLI::App* const group =
      app.add_subcommand("secret", "Secrets that a node keeps: put, list and delete them");
  group->group(kNodeVerbs);
  group->require_subcommand(1);

  CLI::App* const add = group->add_subcommand("put", "keep a secret, or replace it");
  add->add_option("NAME", flags->name, "as policies name it: secret:NAME")->required();
  add->add_option("--file", flags->file, "where it is read from; by default standard input");
  add_node_flags(*add, flags->node);
  add->callback([flags, &context] { put(*flags, context); });

  CLI::App* const ls = group->add_subcommand("ls", "list their names");
  add_node_flags(*ls, flags->node);
  ls->callback([flags, &context] { list(*flags, context); });

  CLI::App* const rm = group->add_subcommand("rm", "delete a secret: nothing is given it any more");
  rm->add_option("NAME", flags->name, "of ls")->required();
  add_node_flags(*rm, flags->node);
  rm->callback([flags, &context] { remove(*flags, context); });
}

}  // namespace cordon::cli
