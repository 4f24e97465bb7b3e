// SPDX-License-Identifier: Apache-2.0
// cordon suggest: from what a run was refused to the smallest change of its policy.
#include "cli/suggest.h"

#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/policy_source.h"
#include "cli/registries.h"
#include "cli/text_file.h"
#include "policy/parse.h"
#include "policy/presets.h"

namespace cordon::cli {
namespace {

policy::Lesson lesson_of(const RunHistory& run, const ChangedPolicy& policy,
                         const SuggestOptions& options, const Context& context) {
  const std::string workspace = workspace_of(run, options.workspace, context);
  return {.denials = run.denials,
          .verdict = run.verdict,
          .text = policy.text,
          .file = policy.file,
          .workspace = workspace,
          .home = context.environment("HOME").value_or(""),
          .why = "suggested from " + run.sandbox,
          .registries = look_up_registries(context, workspace),
          .is_there = [](const std::string& path) {
            const auto there = is_there(path);
            return there && *there;
          }};
}

Result<ChangedPolicy> from_file(const std::string& file, const std::string& written) {
  TRY(std::string text, read_text_file(file));
  if (policy::syntax_of(file, text) == policy::Syntax::json) {
    return Error{Errc::invalid, file + ": only policies in TOML are changed"};
  }
  std::string before = file == written ? text : std::string{};
  return ChangedPolicy{.file = written.empty() ? file : written,
                       .text = std::move(text),
                       .before = std::move(before)};
}

void suggest(const SuggestOptions& options, Context& context) {
  const auto run = read_history(options.log, context, options.sandbox);
  if (!run) return fail(context, run.error());
  const auto policy = policy_to_change(options);
  if (!policy) {
    fail(context, policy.error());
    if (policy.error().code() == Errc::invalid) context.exit = Exit::usage;
    return;
  }
  const auto found = policy::suggest(lesson_of(*run, *policy, options, context));
  if (!found) return fail(context, found.error());
  context.out << (options.log.json ? json_of(*found, *run, *policy)
                                   : words_of(*found, *run, policy->file));
  if (!options.write.empty() && found->text != policy->text) {
    write_policy(options, *policy, found->text, context);
  }
}

}  // namespace

Result<ChangedPolicy> policy_to_change(const SuggestOptions& options) {
  TRY(const bool written, options.write.empty() ? Result<bool>{false} : is_there(options.write));
  if (written) {
    std::error_code ignored;
    if (!options.policy.empty() &&
        !std::filesystem::equivalent(options.write, options.policy, ignored)) {
      return Error{Errc::invalid,
                   fmt::format("{} is there and is changed as it is: leave --policy out, or write "
                               "another file",
                               options.write)};
    }
    return from_file(options.write, options.write);
  }
  if (options.policy.empty()) {
    return Error{Errc::invalid,
                 "the record does not hold the policy of a run: say --policy FILE, or --policy "
                 "PRESET"};
  }
  TRY(const bool is_file, is_there(options.policy));
  if (is_file) return from_file(options.policy, options.write);
  if (policy::find_preset(options.policy) == nullptr) {
    return Error{Errc::not_found,
                 options.policy + ": no such file, and no preset (cordon policy show)"};
  }
  return ChangedPolicy{
      .file = options.write.empty() ? "a policy that extends " + options.policy : options.write,
      .text = fmt::format("version = 1\nextends = [\"{}\"]\n", options.policy),
      .before = {}};
}

void add_suggest(CLI::App& app, Context& context) {
  // Shared by the parser, which fills it, and the callback, which CLI11 may copy.
  const auto options = std::make_shared<SuggestOptions>();
  CLI::App* const verb = app.add_subcommand(
      "suggest", "Proposes the smallest change of a policy from what a run was refused");
  verb->add_option("SANDBOX", options->sandbox, "the id of a sandbox; by default the last run");
  verb->add_option("--policy", options->policy, "the policy that the run had: a file, or a preset");
  verb->add_option("--write", options->write, "change this file, or make it, after asking");
  verb->add_option("--workspace", options->workspace, "where the workspace is inside");
  verb->add_option("--log", options->log.log,
                   "the directory of a log; by default the caller's own");
  verb->add_flag("--yes,-y", options->yes, "Write without asking");
  verb->add_flag("--json", options->log.json, "Print one JSON object");
  verb->callback([options, &context] { suggest(*options, context); });
}

}  // namespace cordon::cli
