// SPDX-License-Identifier: Apache-2.0
// cordon fleet policy: what all nodes hold new sandboxes against, pushed to canaries first and then
// to cell after cell, for as long as none says no.
#include <chrono>
#include <memory>
#include <ostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/fleet_client.h"
#include "cli/fleet_verbs.h"
#include "cli/fleet_words.h"
#include "cli/node_words.h"
#include "cli/run_options.h"
#include "cli/text_file.h"
#include "cli/token_verbs.h"
#include "gate/release.h"
#include "policy/problem.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenSteps{500};
// A gateway that is started anew, or an etcd without a leader, is waited for.
constexpr std::chrono::seconds kForgiven{60};
constexpr const char* kPath = "/v1/fleet/policy";

struct PolicyFlags {
  NodeOptions node;
  std::string file;
  std::string canary;
  std::string soak;
  bool may_turn_away = false;
  bool shows_text = false;
};

// False: it was told why not.
bool is_release(const std::string& file, const std::string& text, Context& context) {
  policy::Problems problems{file};
  const auto release = gate::read_release(text, file, problems);
  if (release) return true;
  fail(context,
       problems.empty() ? release.error() : Error{Errc::invalid, "no release of a policy"});
  for (const policy::Problem& problem : problems.all()) {
    context.err << "  " << terminal::printable(to_string(problem)) << '\n';
  }
  context.exit = Exit::no;
  return false;
}

void tell(const PolicyFlags& flags, const NodeAnswer& answer, Context& context) {
  const PolicyView view = read_policy(answer.json);
  context.out << (flags.node.json ? answer.body + '\n' : policy_text(view));
  context.exit = view.stage == "stopped" ? Exit::no : Exit::ok;
}

// Again and again, until all have it or nobody.
void go_on(const PolicyFlags& flags, const Node& node, Context& context) {
  std::string told;
  auto heard_at = Steady::now();
  for (;;) {
    const auto answer = ask_now(node, {.method = "POST", .path = std::string{kPath} + "/advance"});
    // Who moves it on beside us has done what there was to do.
    const bool may_pass = !answer || answer->status >= 500 || answer->status == 409;
    if (may_pass && Steady::now() - heard_at <= kForgiven) {
      std::this_thread::sleep_for(kBetweenSteps);
      continue;
    }
    if (!answer) return fail(context, answer.error());
    if (!answer->is_good()) return refuse(context, flags.node, *answer);
    heard_at = Steady::now();
    const PolicyView view = read_policy(answer->json);
    if (view.stage != "canary" && view.stage != "rolling") return tell(flags, *answer, context);
    const std::string words =
        fmt::format("release {}, {}: {}", view.release, terminal::printable(view.stage),
                    terminal::printable(view.words));
    if (words != told) context.err << "cordon: " << words << '\n' << std::flush;
    told = words;
    std::this_thread::sleep_for(kBetweenSteps);
  }
}

void push(const PolicyFlags& flags, Context& context) {
  const auto soak = flags.soak.empty() ? Result<std::uint64_t>{30} : parse_duration(flags.soak);
  if (!soak) return fail_typed(context, soak.error());
  const auto text = read_text_file(flags.file);
  if (!text) return fail(context, text.error());
  if (!is_release(flags.file, *text, context)) return;
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  std::string path = fmt::format("{}?soak_seconds={}", kPath, *soak);
  if (!flags.canary.empty()) path += "&canary=" + escaped_for_query(flags.canary);
  if (flags.may_turn_away) path += "&may_turn_away=true";
  const auto pushed = ask_now(*node, {.method = "PUT", .path = path, .body = *text});
  if (!pushed) return fail(context, pushed.error());
  if (!pushed->is_good()) return refuse(context, flags.node, *pushed);
  go_on(flags, *node, context);
}

void check(const PolicyFlags& flags, Context& context) {
  const auto text = read_text_file(flags.file);
  if (!text) return fail(context, text.error());
  if (is_release(flags.file, *text, context)) context.out << flags.file << ": ok\n";
}

void resume(const PolicyFlags& flags, Context& context) {
  const auto node = find_node(flags.node, context);
  if (!node) return fail(context, node.error());
  go_on(flags, *node, context);
}

void roll_back(const PolicyFlags& flags, Context& context) {
  const auto answer = ask_or_tell(
      flags.node, {.method = "POST", .path = std::string{kPath} + "/rollback"}, context);
  if (!answer) return;
  tell(flags, *answer, context);
  context.exit = Exit::ok;
}

void show(const PolicyFlags& flags, Context& context) {
  const auto answer = ask_or_tell(flags.node, {.path = kPath}, context);
  if (!answer) return;
  if (!flags.shows_text) {
    tell(flags, *answer, context);
    context.exit = Exit::ok;
    return;
  }
  const PolicyView view = read_policy(answer->json);
  const std::uint64_t held = view.stage == "whole" ? view.release : view.before;
  if (held == 0) {
    return fail(context, {Errc::not_found,
                          "no release holds on all nodes: each has its own "
                          "settings alone"});
  }
  const auto text = ask_or_tell(flags.node, {.path = fmt::format("{}/{}", kPath, held)}, context);
  if (text) context.out << text->body;
}

using Work = void (*)(const PolicyFlags&, Context&);

std::shared_ptr<PolicyFlags> bound(CLI::App& verb, Work work, Context& context) {
  auto flags = std::make_shared<PolicyFlags>();
  verb.callback([flags, work, &context] { work(*flags, context); });
  return flags;
}

void add_push(CLI::App& group, Context& context) {
  CLI::App* const verb = group.add_subcommand(
      "push", "has canaries take a release, then cell after cell; stops where one cannot");
  const auto flags = bound(*verb, push, context);
  verb->add_option("FILE", flags->file, "a release, as docs/fleet.md describes it; - is stdin")
      ->required();
  verb->add_option("--canary", flags->canary,
                   "The nodes that get it first, like 1.42,2.7; by default one");
  verb->add_option("--soak", flags->soak,
                   "How long each stage runs it before the next, like 30s or 10m; by default 30s");
  verb->add_flag("--may-turn-away", flags->may_turn_away,
                 "Go on where it refuses creates that were made before");
  add_node_flags(*verb, flags->node);
}

}  // namespace

void add_fleet_policy(CLI::App& group, Context& context) {
  CLI::App* const policy =
      group.add_subcommand("policy", "What all nodes hold new sandboxes against");
  policy->require_subcommand(1);
  add_push(*policy, context);
  CLI::App* const checks = policy->add_subcommand("check", "reads a release as nodes do");
  const auto checked = bound(*checks, check, context);
  checks->add_option("FILE", checked->file, "a release; - is stdin")->required();
  CLI::App* const shows =
      policy->add_subcommand("show", "says which release holds where, and which was refused");
  const auto shown = bound(*shows, show, context);
  shows->add_flag("--text", shown->shows_text, "The release itself that holds on all nodes");
  add_node_flags(*shows, shown->node);
  CLI::App* const resumes =
      policy->add_subcommand("resume", "goes on with a release whose push was broken off");
  add_node_flags(*resumes, bound(*resumes, resume, context)->node);
  CLI::App* const backs =
      policy->add_subcommand("rollback", "has all nodes go back to the release before");
  add_node_flags(*backs, bound(*backs, roll_back, context)->node);
}

}  // namespace cordon::cli
