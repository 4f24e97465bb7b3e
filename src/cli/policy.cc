// SPDX-License-Identifier: Apache-2.0
// cordon policy: check, show, explain, why, test, replay and schema.
#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/policy_verbs.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

void add_common(CLI::App& verb, PolicyOptions& options) {
  verb.add_option("FILE", options.file, "policy in TOML or JSON; - for standard input")->required();
  verb.add_option("--origin", options.origin, "who wrote it, and so what it may name")
      ->check(CLI::IsMember({"builtin", "site", "user", "request", "workspace"}))
      ->capture_default_str();
  verb.add_option("--under", options.under, "preset that a workspace file is judged under")
      ->capture_default_str();
  verb.add_flag("--json", options.json, "print JSON");
}

}  // namespace

void add_policy(CLI::App& app, Context& context) {
  CLI::App* const policy = app.add_subcommand("policy", "check, show, explain and test policies");
  policy->require_subcommand(1);
  // Lives as long as the command line: its callbacks refer to it.
  const auto options = std::make_shared<PolicyOptions>();
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto workspace = std::make_shared<std::string>();

  CLI::App* const check = policy->add_subcommand("check",
                                                 "say whether a policy is valid, and what is wrong "
                                                 "with it: first keys and kinds, then values");
  add_common(*check, *options);
  check->callback([options, &context] { policy_check(*options, context); });

  CLI::App* const explain = policy->add_subcommand("explain", "say in words what a policy permits");
  add_common(*explain, *options);
  explain->callback([options, &context] { policy_explain(*options, context); });

  CLI::App* const why = policy->add_subcommand(
      "why", "say what a policy decides, by which rule, and what would turn it");
  add_common(*why, *options);
  why->add_option(
         "QUESTION", *words,
         "read|write|exec PATH, net HOST[:PORT] [METHOD PATH], or tool SERVER/TOOL [ARGUMENTS]")
      ->required();
  why->add_option("--workspace", *workspace,
                  "where the workspace is inside; the current directory by default");
  why->callback(
      [options, words, workspace, &context] { policy_why(*options, *words, *workspace, context); });

  CLI::App* const test =
      policy->add_subcommand("test", "run the policy tests beside a policy (NAME.test.toml)");
  add_common(*test, *options);
  test->callback([options, &context] { policy_test(*options, context); });

  const auto replayed = std::make_shared<ReplayOptions>();
  CLI::App* const replay = policy->add_subcommand(
      "replay", "say what a policy would have allowed and refused of recorded runs");
  add_common(*replay, *options);
  replay->add_option("SANDBOX", replayed->runs, "ids of runs")->required();
  replay->add_option("--log", replayed->log.log,
                     "the directory of a log; by default the caller's own");
  replay->add_option("--workspace", replayed->workspace, "where the workspace is inside");
  replay->callback([options, replayed, &context] { policy_replay(*options, *replayed, context); });

  CLI::App* const show = policy->add_subcommand(
      "show", "list the presets, print one, or what holds in this directory");
  const auto effective = std::make_shared<bool>(false);
  CLI::Option* const preset = show->add_option("PRESET", options->file, "the preset to print");
  show->add_flag("--effective", *effective, "the policy that holds in the current directory")
      ->excludes(preset);
  show->add_option("--under", options->under, "preset where neither site nor user has a policy")
      ->capture_default_str();
  show->add_flag("--json", options->json, "print JSON");
  show->callback([options, effective, &context] { policy_show(*options, *effective, context); });

  CLI::App* const schema = policy->add_subcommand("schema", "print the JSON Schema of policies");
  schema->callback([&context] { policy_schema(context); });
}

}  // namespace cordon::cli
