// SPDX-License-Identifier: Apache-2.0
// cordon top: the processes that were started in a sandbox. cordon inspect: all about one.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>

#include "cli/node_client.h"
#include "cli/node_words.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

struct OneSandbox {
  NodeOptions node;
  std::string id;
};

std::optional<NodeAnswer> get(const OneSandbox& flags, const std::string& below, Context& context) {
  const auto node = find_node(flags.node, context);
  const auto path = sandbox_path(flags.id, below);
  if (!node || !path) {
    fail(context, node ? path.error() : node.error());
    return std::nullopt;
  }
  auto answer = ask_now(*node, {.path = *path});
  if (!answer) {
    fail(context, answer.error());
    return std::nullopt;
  }
  if (!answer->is_good()) {
    refuse(context, flags.node, *answer);
    return std::nullopt;
  }
  return *std::move(answer);
}

}  // namespace

void add_top(CLI::App& app, Context& context) {
  auto flags = std::make_shared<OneSandbox>();
  CLI::App* const verb = app.add_subcommand("top", "Lists the processes of a sandbox");
  verb->group(kNodeVerbs);
  verb->add_option("SANDBOX", flags->id, "Its id")->required();
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] {
    const auto answer = get(*flags, "/processes", context);
    if (!answer) return;
    context.out << (flags->node.json ? answer->body + '\n'
                                     : processes_text(list_at(answer->json, "processes")));
  });
}

void add_inspect(CLI::App& app, Context& context) {
  auto flags = std::make_shared<OneSandbox>();
  CLI::App* const verb = app.add_subcommand(
      "inspect", "Prints all about a sandbox, as JSON: what holds it, and how it ended");
  verb->group(kNodeVerbs);
  verb->add_option("SANDBOX", flags->id, "Its id")->required();
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] {
    const auto answer = get(*flags, "", context);
    if (answer) context.out << answer->body << '\n';
  });
}

}  // namespace cordon::cli
