// SPDX-License-Identifier: Apache-2.0
// cordon node: the nodes of a fleet, or one by itself. Beside Node.js, which is called the same.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/fleet_client.h"
#include "cli/fleet_words.h"
#include "cli/node_words.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

void list(const NodeOptions& options, Context& context) {
  const auto node = find_node(options, context);
  if (!node) return fail(context, node.error());
  const auto fleet = ask_fleet(*node);
  if (!fleet) return fail(context, fleet.error());
  if (!fleet->answer.is_good()) return refuse(context, options, fleet->answer);
  if (!options.json) {
    context.out << nodes_text(fleet->view.nodes);
  } else if (fleet->view.is_single) {
    context.out << json::serialize(json::object{{"nodes", json::array{fleet->answer.json}}})
                << '\n';
  } else {
    context.out << fleet->answer.body << '\n';
  }
}

}  // namespace

void add_node(CLI::App& app, Context& context) {
  CLI::App* const node = app.get_subcommand("node");
  node->description("Runs Node.js under the preset node; or ls, drain, resume: nodes of Cordon");
  const auto of_node_js = node->get_options();

  auto options = std::make_shared<NodeOptions>();
  CLI::App* const ls =
      node->add_subcommand("ls", "lists the nodes of a fleet, or the one that is asked");
  add_node_flags(*ls, *options);
  ls->callback([options, &context] { list(*options, context); });
  add_node_changes(*node, context);

  const auto is_any = [](const CLI::App*) { return true; };
  for (CLI::App* const verb : node->get_subcommands(is_any)) {
    verb->prefix_command(false);
    // What is said to Node.js's sandbox would be said to nobody.
    for (CLI::Option* const option : of_node_js) {
      if (option != node->get_help_ptr()) verb->excludes(option);
    }
  }
}

}  // namespace cordon::cli
