// SPDX-License-Identifier: Apache-2.0
// cordon run, cordon shell and cordon NAME: a command of the caller in a sandbox.
#include "node/run.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "audit/log.h"
#include "cli/audit_verbs.h"
#include "cli/host_cache.h"
#include "cli/machine.h"
#include "cli/own_log.h"
#include "cli/preset_names.h"
#include "cli/replaced_file.h"
#include "cli/run_command.h"
#include "cli/run_launch.h"
#include "cli/run_options.h"
#include "cli/run_prepare.h"
#include "cli/run_report.h"
#include "cli/run_words.h"
#include "cli/state_root.h"
#include "cli/verbs.h"
#include "node/network_record.h"
#include "os/caller.h"
#include "plan/digest.h"
#include "review/run_directory.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

// Nothing for a run whose writes go elsewhere. It is held for as long as the sandbox lives.
Result<std::optional<review::RunDirectory>> open_review(const PreparedRun& run,
                                                        const RunOptions& options,
                                                        const HostFacts& host, const Clock& clock) {
  std::optional<review::RunDirectory> none;
  if (run.lowered.plan.workspace.kind != frame::WorkspaceKind::review) return none;
  TRY(const RunId id, RunId::parse(run.id.text()));
  const WallTime now = clock.wall();
  if (const auto expired = review::RunDirectory::expire(run.state, now); !expired) {
    return expired.error();
  }
  TRY(review::RunDirectory made,
      review::RunDirectory::create(run.state, {.id = id,
                                               .command = options.command,
                                               .workspace = run.workspace,
                                               .started = now,
                                               .expires = now + kReviewAge,
                                               .marks = host.root ? review::OverlayMarks::trusted
                                                                  : review::OverlayMarks::user}));
  return std::optional{std::move(made)};
}

// Every step is in the record before it takes effect.
Result<node::RunOutcome> record_and_launch(const PreparedRun& run, const RunOptions& options,
                                           const Context& context, const HostFacts& host,
                                           EarlyLauncher early, const Clock& clock,
                                           RunCompanion* companion) {
  TRY(const auto log, open_own_log(run.state, clock));
  const audit::Subject subject{.tenant = {}, .sandbox = run.id.text()};
  const std::vector<AuditEvent> begun{
      PolicyAccepted{plan::digest_of(run.lowered)},
      SandboxStarted{isolation_of(run.lowered.enforcement), run.lowered.enforcement}};
  TRY_DO(log->append(subject, begun));
  node::NetworkRecord record{
      *log, subject, {typed_flags(options), "-- " + spelled(options.command)}};
  TRY(node::SeenRecord inside, node::SeenRecord::of(*log, subject, run.lowered));
  node::Responses responses{*log, subject, run.lowered.responses};
  record.count_in(responses);
  inside.count_in(responses);
  // Of what does not end the run by itself a person is told at once.
  responses.when_taken([&context](const node::Tripped& tripped, const Denial& taken) {
    if (tripped.response.then != "kill") context.err << words_of(taken) << std::flush;
  });
  MakeFace make;
  if (companion != nullptr) {
    TRY_DO(companion->begin(run, *log, subject, responses));
    make = [companion](const auto& executor) { return companion->make_face(executor); };
  }
  auto outcome =
      launch_run(run, options, context, host, std::move(early), {record, inside, responses}, make);
  if (outcome) {
    outcome->denials = inside.take_denials();
    std::ranges::move(record.take_denials(), std::back_inserter(outcome->denials));
    std::ranges::move(responses.take_taken(), std::back_inserter(outcome->denials));
    if (companion != nullptr)
      std::ranges::move(companion->take_denials(), std::back_inserter(outcome->denials));
  }
  const Verdict verdict =
      outcome ? outcome->verdict
              : Verdict{.ending = Ending::infrastructure, .explanation = outcome.error().text()};
  TRY_DO(log->append(subject, SandboxEnded{verdict}));
  seal_soon(run.state, context);
  return outcome;
}

void record_refusals(const WhyNot& why, const Context& context, const Clock& clock) {
  const auto state = state_root(context);
  if (!state || why.denials.empty()) return;
  const auto log = open_own_log(*state, clock);
  if (!log) return;
  std::vector<AuditEvent> refused;
  refused.reserve(why.denials.size());
  for (const Denial& denial : why.denials) refused.emplace_back(ActRefused{denial});
  static_cast<void>((*log)->append({.tenant = {}, .sandbox = why.id}, refused));
}

void tell(const Error& error, const WhyNot& why, std::ostream& out) {
  for (const Denial& denial : why.denials) out << words_of(denial);
  for (const policy::Problem& problem : why.problems.all()) {
    out << "cordon: " << to_string(problem) << '\n';
  }
  if (why.denials.empty() && why.problems.empty()) out << "cordon: " << error.text() << '\n';
}

void end_review(review::RunDirectory& directory, const node::RunOutcome& outcome,
                const Clock& clock) {
  review::RunRecord kept = directory.record();
  kept.ended = clock.wall();
  kept.verdict = to_line(outcome.verdict);
  static_cast<void>(directory.save(std::move(kept)));
}

int run_prepared(const PreparedRun& run, const RunOptions& options, const HostFacts& host,
                 EarlyLauncher early, RunReport& report, Context& context,
                 RunCompanion* companion) {
  const SystemClock clock;
  auto directory = open_review(run, options, host, clock);
  auto outcome =
      directory ? record_and_launch(run, options, context, host, std::move(early), clock, companion)
                : Result<node::RunOutcome>{directory.error()};
  if (!outcome) {
    report.failure = outcome.error().text();
    context.err << "cordon: " << report.failure << '\n';
    return static_cast<int>(Exit::not_started);
  }
  context.err << words_of(*outcome, options.command.front()) << words_of(outcome->denials);
  report.outcome = *outcome;
  report.denials = outcome->denials;
  if (std::optional<review::RunDirectory>& kept = *directory) {
    end_review(*kept, *outcome, clock);
    report.review = run.id.text();
    if (!options.quiet) context.err << words_of_review(report.review, kReviewAge);
  }
  return exit_code_of(*outcome);
}

// Fills the report; gives the exit code.
int run_reported(const RunOptions& options, RunReport& report, Context& context,
                 RunCompanion* companion) {
  // Root's needs nothing to be known of the host.
  name_machine(context);
  EarlyLauncher early;
  start_early(early, os::caller_ids().uid == 0);
  const HostFacts host = known_host_facts(context);
  report.command = options.command;
  report.level = level_of(host).level;
  start_early(early, host.root || host.has(Feature::user_namespaces));
  WhyNot why;
  const auto run = prepare_run(options, context, host, why);
  report.id = why.id;
  if (!run) {
    record_refusals(why, context, SystemClock{});
    report.denials = why.denials;
    report.failure = run.error().text();
    tell(run.error(), why, context.err);
    return static_cast<int>(Exit::refused);
  }
  report.enforcement = run->lowered.enforcement;
  return run_prepared(*run, options, host, std::move(early), report, context, companion);
}

}  // namespace

void run_command(const RunOptions& options, Context& context, RunCompanion* companion) {
  // Held from before the sandbox exists.
  std::optional<ReplacedFile> file;
  if (!options.json.empty()) {
    auto opened = ReplacedFile::open(options.json);
    if (!opened) {
      fail(context, std::move(opened).error().with("--json " + options.json));
      context.exit = Exit::not_started;
      return;
    }
    file.emplace(*std::move(opened));
  }
  RunReport report;
  report.exit = run_reported(options, report, context, companion);
  context.exit = static_cast<Exit>(report.exit);
  if (!file) return;
  if (Status written = file->write(to_json(report), 0600); !written) {
    context.err << "cordon: "
                << std::move(written).error().with("the report " + file->name()).text() << '\n';
  }
}

namespace {

void add_command(CLI::App& verb, RunOptions& options) {
  verb.add_option("command", options.command, "The command and its arguments, after --");
  verb.positionals_at_end();
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* const verb = app.add_subcommand("run", "Runs a command in a sandbox");
  add_run_flags(*verb, *options);
  add_command(*verb, *options);
  verb->get_option("command")->required();
  verb->callback([options, &context] { run_command(*options, context); });
}

void add_shell(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* const verb = app.add_subcommand("shell", "Opens a shell in a sandbox");
  add_run_flags(*verb, *options);
  verb->callback([options, &context] {
    options->command = {"/bin/bash"};
    std::error_code ignored;
    if (!fs::exists("/bin/bash", ignored)) options->command = {"/bin/sh"};
    run_command(*options, context);
  });
}

void add_named_commands(CLI::App& app, Context& context) {
  for (const PresetName& name : preset_names()) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* const verb = app.add_subcommand(
        std::string{name.command}, "Runs it under the preset " + std::string{name.preset});
    verb->group("Commands with a preset");
    add_run_flags(*verb, *options);
    verb->prefix_command();
    verb->callback([options, verb, &name, &context] {
      if (!verb->get_subcommands().empty()) return;  // a verb of ours, below it
      if (options->preset.empty() && options->policy.empty()) options->preset = name.preset;
      options->command = {std::string{name.command}};
      const auto rest = verb->remaining();
      options->command.insert(options->command.end(), rest.begin(), rest.end());
      run_command(*options, context);
    });
  }
}

}  // namespace cordon::cli
