// SPDX-License-Identifier: Apache-2.0
// cordon fleet move: a sandbox goes on at another node, under the name that it has.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/id.h"
#include "cli/fleet_client.h"
#include "cli/fleet_words.h"
#include "cli/node_words.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "policy/text.h"
#include "record/quantity.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

struct MoveFlags {
  NodeOptions node;
  std::string sandbox;
  std::string to;  // empty: where there is room
};

void move(const MoveFlags& flags, Context& context) {
  if (!SandboxId::parse(flags.sandbox)) {
    return fail_typed(
        context,
        Error{Errc::invalid, fmt::format("{}: this is no sandbox's id; cordon ps lists them",
                                         policy::in_quotes(flags.sandbox))});
  }
  if (!flags.to.empty() && !is_node_name(flags.to)) return fail_typed(context, no_name(flags.to));
  const auto answer = ask_or_tell(flags.node, move_request(flags.sandbox, flags.to), context);
  if (!answer) return;
  context.out << (flags.node.json ? answer->body : moved_words(answer->json)) << '\n';
}

}  // namespace

NodeRequest move_request(const std::string& sandbox, const std::string& to) {
  boost::json::object order{{"sandbox", sandbox}};
  if (!to.empty()) order.emplace("to", to);
  return {.method = "POST", .path = "/v1/fleet/moves", .body = boost::json::serialize(order)};
}

std::string moved_words(const boost::json::value& report) {
  const auto milliseconds = number_at(report, "milliseconds").value_or(0);
  return fmt::format(
      "{} is at {} now, and was at {}: {} of files, {:.1f} s; its processes have ended",
      terminal::printable(text_at(report, "sandbox")), terminal::printable(text_at(report, "to")),
      terminal::printable(text_at(report, "from")),
      to_size_text(number_at(report, "bytes").value_or(0)),
      static_cast<double>(milliseconds) / 1000.0);
}

void add_fleet_move(CLI::App& group, Context& context) {
  auto flags = std::make_shared<MoveFlags>();
  CLI::App* const verb = group.add_subcommand(
      "move", "has a sandbox go on at another node, with its files and under its name");
  verb->add_option("ID", flags->sandbox, "The sandbox's id")->required();
  verb->add_option("--to", flags->to, "CELL.NODE, of cordon node ls; by default one with room");
  add_node_flags(*verb, flags->node);
  verb->callback([flags, &context] { move(*flags, context); });
}

}  // namespace cordon::cli
