// SPDX-License-Identifier: Apache-2.0
// cordon node drain and resume: a node takes no new sandboxes, until it is told to go on.
#include <chrono>
#include <memory>
#include <ostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/fleet_client.h"
#include "cli/fleet_words.h"
#include "cli/node_words.h"
#include "cli/run_options.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "policy/text.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenCounts{500};
// A gateway or a node that is started anew is waited for.
constexpr std::chrono::seconds kForgiven{30};

struct DrainFlags {
  NodeOptions node;
  std::string name;  // empty: a node by itself
  std::string timeout;
  bool waits = false;
  bool moves = false;
};

// How it is said, and where the nodes are named that there are.
struct Act {
  std::string_view verb;  // "drain"
  const DrainFlags& flags;
  const Node& node;
};

Result<NodeAnswer> tell_single(const Act& act) {
  return ask_now(act.node, {.method = "POST", .path = fmt::format("/v1/node/{}", act.verb)});
}

// The name may be that of the node that is asked: it has no others.
Result<NodeAnswer> tell_named_single(const Act& act) {
  TRY(const NodeAnswer itself, ask_now(act.node, {.path = "/v1/node"}));
  if (!itself.is_good()) return itself;
  const FleetNode node = read_single_node(itself.json, {});
  if (node.name == act.flags.name) return tell_single(act);
  return Error{Errc::not_found,
               fmt::format("at {} is no gateway, but the node {} alone; cordon node {} without a "
                           "name is about it, and --node names a gateway",
                           terminal::printable(to_string(act.node.address)),
                           terminal::printable(node.name), act.verb)};
}

Result<NodeAnswer> tell(const Act& act) {
  if (act.flags.name.empty()) return tell_single(act);
  TRY(NodeAnswer answer,
      ask_now(act.node, {.method = "POST",
                         .path = fmt::format("/v1/fleet/nodes/{}/{}", act.flags.name, act.verb)}));
  if (is_no_route(answer)) return tell_named_single(act);
  return answer;
}

// Which nodes there are, where the refusal may be about that; empty where it is not, or nobody
// says.
std::vector<FleetNode> others(const Act& act, const NodeAnswer& refusal) {
  const bool is_of_name = act.flags.name.empty() ? refusal.status == 400 : refusal.status == 404;
  if (!is_of_name) return {};
  auto fleet = ask_fleet(act.node);
  if (!fleet || fleet->view.is_single) return {};
  return std::move(fleet->view.nodes);
}

void explain(const Act& act, const NodeAnswer& refusal, Context& context) {
  refuse(context, act.flags.node, refusal);
  const auto nodes = others(act, refusal);
  if (nodes.empty()) return;
  context.err << fmt::format("  nodes {}\n  like  cordon node {} {}\n", names_words(nodes),
                             act.verb, terminal::printable(nodes.front().name));
  if (act.flags.name.empty()) context.exit = Exit::usage;
}

// What was answered of a node, and how that is read.
struct Told {
  std::string body;
  FleetNode node;
};

// What a gateway says of a node has a standing.
Told read_told(const Act& act, const NodeAnswer& answer) {
  const bool is_of_gateway = !text_at(answer.json, "standing").empty();
  return {.body = answer.body,
          .node = is_of_gateway ? read_fleet_node(answer.json)
                                : read_single_node(answer.json, to_string(act.node.address))};
}

// How the node is now, by its own word.
Result<Told> look(const Act& act, const std::string& path) {
  TRY(const NodeAnswer answer, ask_now(act.node, {.path = path}));
  if (answer.is_good()) return read_told(act, answer);
  const bool may_pass = exit_of_status(answer.status) == Exit::unavailable;
  return Error{may_pass ? Errc::unavailable : Errc::denied, text_at(answer.json, "detail")};
}

// What was heard of the node while it is waited for.
class Emptying {
 public:
  Emptying(Told begin, std::ostream& progress) : told_{std::move(begin)}, progress_{progress} {}

  const Told& told() const noexcept { return told_; }
  bool is_empty() const { return told_.node.sandboxes == 0 && told_.node.is_draining; }
  std::string left() const {
    return count_words(told_.node.sandboxes.value_or(0), "sandbox") + " left";
  }

  void show() {
    if (shown_ == told_.node.sandboxes) return;
    shown_ = told_.node.sandboxes;
    progress_ << fmt::format("cordon: {} takes nothing new; {}\n",
                             terminal::printable(told_.node.name), left())
              << std::flush;
  }

  // Why it is not waited for any longer.
  Status heard(Result<Told> look) {
    const auto now = Steady::now();
    if (look) {
      told_ = *std::move(look);
      heard_at_ = now;
      if (told_.node.is_draining) return {};
      return Error{
          Errc::denied,
          fmt::format("{} takes new sandboxes again: somebody has resumed it", told_.node.name)};
    }
    if (look.error().code() == Errc::unavailable && now - heard_at_ <= kForgiven) return {};
    return std::move(look).error().with(fmt::format(
        "{} is drained, and how many sandboxes are left is not known", told_.node.name));
  }

 private:
  Told told_;
  std::ostream& progress_;
  Steady::time_point heard_at_ = Steady::now();
  std::optional<std::uint64_t> shown_;
};

Result<Told> wait(const Act& act, Told begin, std::uint64_t seconds, std::ostream& progress) {
  const auto until = Steady::now() + std::chrono::seconds{seconds};
  const std::string path =
      begin.node.has_lease ? fmt::format("/v1/fleet/nodes/{}", begin.node.name) : "/v1/node";
  Emptying emptying{std::move(begin), progress};
  while (!emptying.is_empty()) {
    emptying.show();
    if (seconds != 0 && Steady::now() >= until) {
      return Error{
          Errc::timeout,
          fmt::format(
              "{} has {} after {} s, and takes nothing new; cordon kill ends them, the same "
              "command waits on",
              emptying.told().node.name, emptying.left(), seconds)};
    }
    std::this_thread::sleep_for(kBetweenCounts);
    TRY_DO(emptying.heard(look(act, path)));
  }
  return emptying.told();
}

// What could not be moved, each with why.
using NotMoved = std::vector<std::pair<std::string, std::string>>;

// One after the other: each is held only as long as it is copied itself.
Result<NotMoved> move_all(const Act& act, Context& context) {
  const std::string path = fmt::format("/v1/fleet/nodes/{}/sandboxes", act.flags.name);
  TRY(const NodeAnswer answer, ask_now(act.node, {.path = path}));
  if (!answer.is_good()) return Error{Errc::unavailable, text_at(answer.json, "detail")};
  NotMoved left;
  for (const boost::json::value& sandbox : list_at(answer.json, "sandboxes")) {
    if (!sandbox.is_string()) continue;
    const std::string id{sandbox.get_string()};
    const auto moved = ask_now(act.node, move_request(id, ""));
    // It has ended meanwhile.
    if (moved && moved->status == 404) continue;
    if (moved && moved->is_good()) {
      context.err << "cordon: " << moved_words(moved->json) << '\n' << std::flush;
      continue;
    }
    left.emplace_back(id, moved ? text_at(moved->json, "detail") : moved.error().text());
    context.err << fmt::format("cordon: {}: {}\n", terminal::printable(id),
                               terminal::printable(left.back().second))
                << std::flush;
  }
  return left;
}

void change(std::string_view verb, const DrainFlags& flags, Context& context) {
  const auto seconds =
      flags.timeout.empty() ? Result<std::uint64_t>{0} : parse_duration(flags.timeout);
  if (!seconds) return fail_typed(context, seconds.error());
  if (!flags.name.empty() && !is_node_name(flags.name)) {
    return fail_typed(context, no_name(flags.name));
  }
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  const Act act{.verb = verb, .flags = flags, .node = *node};
  const auto answer = tell(act);
  if (!answer) return fail(context, answer.error());
  if (!answer->is_good()) return explain(act, *answer, context);
  Told told = read_told(act, *answer);
  if (flags.moves) {
    const auto left = move_all(act, context);
    if (!left) return fail(context, left.error());
    if (!left->empty() && !flags.waits) {
      return fail(context,
                  Error{Errc::unavailable,
                        fmt::format("{} takes nothing new, and {} could not be moved; the same "
                                    "command tries again, and --wait waits for their ends",
                                    told.node.name, count_words(left->size(), "sandbox"))});
    }
    auto now = look(act, fmt::format("/v1/fleet/nodes/{}", flags.name));
    if (!now) return fail(context, now.error());
    told = *std::move(now);
  }
  if (flags.waits) {
    auto empty = wait(act, std::move(told), *seconds, context.err);
    if (!empty) return fail(context, empty.error());
    told = *std::move(empty);
  }
  context.out << (flags.node.json ? told.body : node_words(told.node)) << '\n';
}

}  // namespace

// "7.42"
bool is_node_name(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto is_number = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dot != std::string_view::npos && is_number(text.substr(0, dot)) &&
         is_number(text.substr(dot + 1));
}

Error no_name(std::string_view text) {
  return {Errc::invalid, fmt::format("{}: a node is named like 1.42, as cordon node ls does",
                                     policy::in_quotes(text))};
}

void add_node_changes(CLI::App& group, Context& context) {
  constexpr const char* kName = "CELL.NODE, of ls; at a node by itself none";
  auto drained = std::make_shared<DrainFlags>();
  CLI::App* const drain =
      group.add_subcommand("drain", "has a node take no new sandboxes; what it has goes on");
  CLI::Option* const named = drain->add_option("NODE", drained->name, kName);
  drain
      ->add_flag("--move", drained->moves,
                 "Then have each of its sandboxes go on at another node; at a gateway")
      ->needs(named);
  CLI::Option* const waits =
      drain->add_flag("--wait", drained->waits, "Wait until it has no sandbox");
  drain
      ->add_option("--timeout", drained->timeout,
                   "How long, like 90s, 10m or 2h; by default without end")
      ->needs(waits);
  add_node_flags(*drain, drained->node);
  drain->callback([drained, &context] { change("drain", *drained, context); });

  auto resumed = std::make_shared<DrainFlags>();
  CLI::App* const resume =
      group.add_subcommand("resume", "has a node take new sandboxes again, after drain");
  resume->add_option("NODE", resumed->name, kName);
  add_node_flags(*resume, resumed->node);
  resume->callback([resumed, &context] { change("resume", *resumed, context); });
}

}  // namespace cordon::cli
