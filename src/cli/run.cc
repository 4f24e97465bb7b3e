// SPDX-License-Identifier: Apache-2.0
// cordon run, cordon shell and cordon NAME: a command of the caller in a sandbox.
#include "node/run.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "async/deadline.h"
#include "audit/file_log.h"
#include "cli/host_cache.h"
#include "cli/policy_source.h"
#include "cli/preset_names.h"
#include "cli/run_face.h"
#include "cli/run_options.h"
#include "cli/run_policy.h"
#include "cli/run_report.h"
#include "cli/run_words.h"
#include "cli/state_root.h"
#include "cli/verbs.h"
#include "node/survey.h"
#include "os/caller.h"
#include "os/own_directory.h"
#include "os/random.h"
#include "plan/lower.h"
#include "review/run_directory.h"
#include "sandbox/process/local_launcher.h"
#include "sandbox/process/process_backend.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

// How long an upper layer is kept that nobody applies or discards. The run prints it.
constexpr std::chrono::days kReviewAge{30};
// The launcher gives up a sandbox that does not stand after half of it.
constexpr std::chrono::seconds kLaunch{20};

std::string beside(const char* name) {
  std::error_code ignored;
  return (fs::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
}

// One `cordon run`, stage by stage: each needs what the one before made.
class RunVerb {
 public:
  RunVerb(const RunOptions& options, Context& context) : options_{options}, context_{context} {}

  void run();

 private:
  Status find_state();
  Status find_workspace();
  Status make_policy();
  Status make_situation();
  Status lower();
  Status keep_own_directories() const;
  Status prepare_review();
  Result<node::RunOutcome> launch();
  Status record(AuditEvent event);
  void refuse(const Error& error, Exit code);
  void conclude(const node::RunOutcome& outcome);

  const RunOptions& options_;
  Context& context_;
  SystemClock clock_;
  std::string state_;  // directory of all that outlives runs
  std::string workspace_;
  HostFacts host_;
  policy::Problems problems_{"command line"};
  std::optional<policy::Policy> policy_;
  std::optional<plan::Situation> situation_;
  std::optional<plan::Lowered> lowered_;
  std::optional<review::RunDirectory> review_;
  std::optional<audit::FileLog> log_;
  std::optional<ReportFile> report_file_;
  RunReport report_;
};

Status RunVerb::find_state() {
  TRY(state_, state_root(context_));
  return {};
}

Status RunVerb::find_workspace() {
  std::error_code error;
  const fs::path given =
      options_.workspace.empty() ? fs::current_path(error) : fs::path{options_.workspace};
  // The launcher follows no link, so that nobody can exchange the directory under it.
  const fs::path real = error ? fs::path{} : fs::canonical(given, error);
  if (error || !fs::is_directory(real, error)) {
    return Error{Errc::not_found, "workspace " + given.string() + ": not a directory"};
  }
  if (real == "/") {
    return Error{Errc::denied,
                 "workspace /: the whole host is no workspace; name a directory with --workspace"};
  }
  workspace_ = real.string();
  return {};
}

Status RunVerb::make_policy() {
  TRY(policy::Policy made, policy_of_run(options_, workspace_, context_, problems_));
  policy_.emplace(std::move(made));
  return {};
}

Status RunVerb::make_situation() {
  TRY(const auto random, os::random_bytes<10>());
  const SandboxId id = SandboxId::from_bytes(random);
  report_.id = id.text();
  const os::CallerIds ids = os::caller_ids();
  const os::CallerAccount account = os::caller_account(ids.uid);
  plan::Situation situation{.id = id};
  situation.home = context_.environment("HOME").value_or(account.home);
  situation.caller_uid = ids.uid;
  situation.caller_gid = ids.gid;
  situation.caller_name = account.name;
  situation.workspace_source = workspace_;
  situation.workspace_target = workspace_;
  situation.state_directory = state_ + "/runs/" + id.text();
  situation.environment = context_.variables();
  situation.drop_network = options_.no_network;
  situation.typed = {typed_flags(options_), "-- " + spelled(options_.command)};
  TRY(situation.survey, node::survey(*policy_, situation));
  situation_.emplace(std::move(situation));
  return {};
}

Status RunVerb::lower() {
  TRY(plan::Lowered made, plan::lower(*policy_, host_, *situation_, &report_.denials));
  lowered_.emplace(std::move(made));
  report_.enforcement = lowered_->enforcement;
  return {};
}

// The record, the layers that wait for review and the cache of facts are what a later run trusts:
// no sandbox may write there.
Status RunVerb::keep_own_directories() const {
  std::vector<std::string> own{state_};
  for (const auto& [variable, fallback] :
       {std::pair{"XDG_CACHE_HOME", "/.cache"}, std::pair{"XDG_CONFIG_HOME", "/.config"}}) {
    const auto set = context_.environment(variable);
    own.push_back((set && !set->empty() ? *set : situation_->home + fallback) + "/cordon");
  }
  std::vector<std::string> written;
  const frame::Workspace& workspace = lowered_->plan.workspace;
  if (workspace.kind == frame::WorkspaceKind::live && workspace.writable) {
    written.push_back(workspace.source);
  }
  for (const frame::Bind& bind : lowered_->plan.binds) {
    if (bind.writable) written.push_back(bind.source);
  }
  const auto lies_in = [](const std::string& path, const std::string& tree) {
    return path == tree || path.starts_with(tree + "/");
  };
  for (const std::string& directory : own) {
    std::error_code ignored;
    const std::string real = fs::weakly_canonical(directory, ignored).string();
    for (const std::string& path : written) {
      if (!lies_in(path, real) && !lies_in(real, path)) continue;
      return Error{Errc::denied,
                   path + " would be writable inside, and Cordon keeps its own files in " + real +
                       "; choose another directory with --workspace"};
    }
  }
  return {};
}

Status RunVerb::prepare_review() {
  if (lowered_->plan.workspace.kind != frame::WorkspaceKind::review) return {};
  TRY(const RunId id, RunId::parse(report_.id));
  const WallTime now = clock_.wall();
  const auto expired = review::RunDirectory::expire(state_, now);
  if (!expired) return expired.error();
  TRY(review::RunDirectory made,
      review::RunDirectory::create(state_, {.id = id,
                                            .command = options_.command,
                                            .workspace = workspace_,
                                            .started = now,
                                            .expires = now + kReviewAge,
                                            .marks = host_.root ? review::OverlayMarks::trusted
                                                                : review::OverlayMarks::user}));
  review_.emplace(std::move(made));
  report_.review = report_.id;
  return {};
}

Status RunVerb::record(AuditEvent event) {
  if (!log_) {
    std::error_code ignored;
    fs::create_directories(state_, ignored);
    TRY(const os::Fd dir, os::open_own_directory(state_));
    TRY(audit::FileLog opened, audit::FileLog::open(dir, "audit.log", clock_));
    log_.emplace(std::move(opened));
  }
  return log_->append(situation_->id, event);
}

Result<node::RunOutcome> RunVerb::launch() {
  asio::io_context loop{1};
  const bool spare = !host_.root && host_.has(Feature::id_ranges);
  TRY(auto launcher,
      sandbox::LocalLauncher::start(loop.get_executor(), beside("cordon-launcher"), spare));
  sandbox::ProcessBackend backend{loop.get_executor(), launcher};
  TRY(std::unique_ptr<CallerFace> face, make_face(loop.get_executor(), options_.raw));
  sandbox::Command command{.arguments = options_.command,
                           .environment = lowered_->environment,
                           .directory = lowered_->directory,
                           .terminal = face->terminal()};
  const auto drive = [](sandbox::ProcessBackend& with, const plan::Lowered& lowered,
                        sandbox::Command what,
                        CallerFace& caller) -> async::Task<node::RunOutcome> {
    CO_TRY(const auto made, co_await async::within(kLaunch, with.create(lowered.plan)));
    co_return co_await node::run(*made, lowered, std::move(what), caller);
  };
  auto outcome = async::block_on(loop, drive(backend, *lowered_, std::move(command), *face));
  face->leave();
  return outcome;
}

void RunVerb::refuse(const Error& error, Exit code) {
  context_.exit = code;
  report_.failure = error.text();
  report_.exit = static_cast<int>(code);
  if (!report_.denials.empty()) {
    for (const Denial& denial : report_.denials) context_.err << words_of(denial);
    return;
  }
  if (problems_.empty()) {
    context_.err << "cordon: " << error.text() << '\n';
    return;
  }
  for (const policy::Problem& problem : problems_.all()) {
    context_.err << "cordon: " << to_string(problem) << '\n';
  }
}

void RunVerb::conclude(const node::RunOutcome& outcome) {
  report_.outcome = outcome;
  const int code = exit_code_of(outcome);
  report_.exit = code;
  context_.exit = static_cast<Exit>(code);
  context_.err << words_of(outcome, options_.command.front());
  if (review_) {
    review::RunRecord kept = review_->record();
    kept.ended = clock_.wall();
    kept.verdict = to_line(outcome.verdict);
    static_cast<void>(review_->save(std::move(kept)));
    if (!options_.quiet) context_.err << words_of_review(report_.review, kReviewAge);
  }
}

void RunVerb::run() {
  host_ = known_host_facts(context_);
  report_.command = options_.command;
  report_.level = level_of(host_).level;
  if (!options_.json.empty()) {
    auto file = ReportFile::open(options_.json);
    if (!file) return refuse(file.error(), Exit::not_started);
    report_file_.emplace(*std::move(file));
  }
  Status ready = find_state();
  if (ready) ready = find_workspace();
  if (ready) ready = make_policy();
  if (ready) ready = make_situation();
  if (ready) ready = lower();
  if (ready) ready = keep_own_directories();
  if (ready && options_.require == "full" && report_.level != Level::full) {
    ready =
        Error{Errc::unavailable, "this host holds level " + std::string{to_string(report_.level)} +
                                     ", below the required full; see cordon doctor"};
  }
  if (!ready) {
    if (situation_) {
      for (const Denial& denial : report_.denials) static_cast<void>(record(ActRefused{denial}));
    }
    refuse(ready.error(), Exit::refused);
  } else {
    Status recorded = prepare_review();
    if (recorded) recorded = record(PolicyAccepted{digest_of(*lowered_)});
    if (recorded) {
      recorded = record(SandboxStarted{Isolation::process, lowered_->enforcement});
    }
    Result<node::RunOutcome> outcome =
        recorded ? launch() : Result<node::RunOutcome>{std::move(recorded).error()};
    if (!outcome) {
      refuse(outcome.error(), Exit::not_started);
    } else {
      static_cast<void>(record(SandboxEnded{outcome->verdict}));
      conclude(*outcome);
    }
  }
  if (!report_file_) return;
  if (const Status written = report_file_->write(report_); !written) {
    context_.err << "cordon: " << written.error().text() << '\n';
  }
}

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
  verb->callback([options, &context] { RunVerb{*options, context}.run(); });
}

void add_shell(CLI::App& app, Context& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* const verb = app.add_subcommand("shell", "Opens a shell in a sandbox");
  add_run_flags(*verb, *options);
  verb->callback([options, &context] {
    options->command = {"/bin/bash"};
    std::error_code ignored;
    if (!fs::exists("/bin/bash", ignored)) options->command = {"/bin/sh"};
    RunVerb{*options, context}.run();
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
      if (options->preset.empty() && options->policy.empty()) options->preset = name.preset;
      options->command = {std::string{name.command}};
      const auto rest = verb->remaining();
      options->command.insert(options->command.end(), rest.begin(), rest.end());
      RunVerb{*options, context}.run();
    });
  }
}

}  // namespace cordon::cli
