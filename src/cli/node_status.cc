// SPDX-License-Identifier: Apache-2.0
// cordon status: whether a node serves, what it is, and what its isolation promises.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/node_client.h"
#include "cli/node_words.h"
#include "cli/promises.h"
#include "cli/verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

std::string line(std::string_view name, std::string_view words) {
  return fmt::format("{:<10} {}\n", name, words);
}

std::string images_of(const json::value& node) {
  const std::string usual = text_at(node, "default_image");
  std::string words;
  for (const json::value& image : list_at(node, "images")) {
    if (!image.is_string()) continue;
    const std::string_view name{image.get_string()};
    words +=
        fmt::format("{}{}{}", words.empty() ? "" : ", ", name, name == usual ? " (default)" : "");
  }
  return words.empty() ? "none" : words;
}

std::string text_of(const Node& asked, const NodeAnswer& health, const NodeAnswer& node) {
  std::string text = line("at", terminal::printable(to_string(asked.address)));
  text += line("state",
               fmt::format("{}, cordon {}", terminal::printable(text_at(health.json, "status")),
                           terminal::printable(text_at(health.json, "version"))));
  if (node.is_good()) {
    text += line("node", terminal::printable(text_at(node.json, "name")));
    text += line("sandboxes", std::to_string(number_at(node.json, "sandboxes").value_or(0)));
    text += line("images", terminal::printable(images_of(node.json)));
  } else {
    text += line("node", "not told: " + terminal::printable(text_at(node.json, "detail")));
  }
  return text + "\n" + promises_text("process");
}

void status(const NodeOptions& options, Context& context) {
  const auto node = find_node(options, context);
  if (!node) return fail(context, node.error());
  // A node that ends answers too, with 503: what it says is its state.
  const auto health = ask_now(*node, {.path = "/v1/health"});
  if (!health) return fail(context, health.error());
  const bool is_node = !text_at(health->json, "status").empty();
  if (!is_node) return refuse(context, options, *health);
  const auto about = ask_now(*node, {.path = "/v1/node"});
  if (!about) return fail(context, about.error());
  // A wrong token is a failure; one that is not for the node itself still learns the rest.
  if (about->status == 401) return refuse(context, options, *about);
  context.exit = health->is_good() ? Exit::ok : Exit::unavailable;
  if (!options.json) {
    context.out << text_of(*node, *health, *about);
    return;
  }
  context.out << json::serialize(json::object{{"health", health->json},
                                              {about->is_good() ? "node" : "refused", about->json},
                                              {"promises", promises_json("process")}})
              << '\n';
}

}  // namespace

void add_status(CLI::App& app, Context& context) {
  auto options = std::make_shared<NodeOptions>();
  CLI::App* const verb =
      app.add_subcommand("status", "Says whether a node serves, and what its isolation promises");
  verb->group(kNodeVerbs);
  add_node_flags(*verb, *options);
  verb->callback([options, &context] { status(*options, context); });
}

}  // namespace cordon::cli
