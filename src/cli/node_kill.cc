// SPDX-License-Identifier: Apache-2.0
// cordon kill: ends sandboxes. When it returns nothing of them is left.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/node_client.h"
#include "cli/node_words.h"
#include "cli/verbs.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

struct KillFlags {
  NodeOptions node;
  std::vector<std::string> ids;
};

// What became of each: those that have ended, and those that were refused with their problem.
struct Killed {
  json::array ended;
  json::array refused;
};

Result<NodeAnswer> end_one(const Node& node, const std::string& id) {
  TRY(std::string path, sandbox_path(id, ""));
  return ask_now(node, {.method = "DELETE", .path = std::move(path)});
}

// One that cannot be ended keeps none of the others alive; the code is that of the last such.
void kill(const KillFlags& flags, Context& context) {
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  Killed killed;
  for (const std::string& id : flags.ids) {
    const auto answer = end_one(*node, id);
    if (!answer) {
      fail(context, Error{answer.error()}.with(terminal::printable(id)));
      killed.refused.push_back(json::object{{"id", id}, {"detail", answer.error().text()}});
    } else if (!answer->is_good()) {
      context.err << "cordon: " << terminal::printable(id) << " was not ended\n"
                  << words_of_refusal(*answer);
      context.exit = exit_of_status(answer->status);
      json::object problem = answer->json.is_object() ? answer->json.get_object() : json::object{};
      problem["id"] = id;
      killed.refused.push_back(std::move(problem));
    } else {
      if (!flags.node.json) context.out << id << '\n';
      killed.ended.push_back(answer->json);
    }
  }
  if (!flags.node.json) return;
  context.out << json::serialize(json::object{{"ended", std::move(killed.ended)},
                                              {"refused", std::move(killed.refused)}})
              << '\n';
}

}  // namespace

void add_kill(CLI::App& app, Context& context) {
  auto flags = std::make_shared<KillFlags>();
  CLI::App* const verb = app.add_subcommand("kill", "Ends sandboxes, and all that is in them");
  verb->group(kNodeVerbs);
  verb->add_option("SANDBOX", flags->ids, "Their ids")->required();
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { kill(*flags, context); });
}

}  // namespace cordon::cli
