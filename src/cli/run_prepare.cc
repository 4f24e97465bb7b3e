// SPDX-License-Identifier: Apache-2.0
#include "cli/run_prepare.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/host_cache.h"
#include "cli/image_verbs.h"
#include "cli/run_policy.h"
#include "cli/run_words.h"
#include "cli/state_root.h"
#include "frame/placeholder.h"
#include "node/image_roots.h"
#include "node/survey.h"
#include "os/caller.h"
#include "os/random.h"
#include "policy/checked.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> find_workspace(const RunOptions& options) {
  std::error_code error;
  const fs::path given =
      options.workspace.empty() ? fs::current_path(error) : fs::path{options.workspace};
  // The launcher follows no link, so that nobody can exchange the directory under it.
  const fs::path real = error ? fs::path{} : fs::canonical(given, error);
  if (error || !fs::is_directory(real, error)) {
    return Error{Errc::not_found, "workspace " + given.string() + ": not a directory"};
  }
  return real.string();
}

plan::Situation situation_of(const RunOptions& options, const Context& context,
                             const PreparedRun& run, const std::string& layer) {
  const os::CallerIds ids = os::caller_ids();
  const os::CallerAccount account = os::caller_account(ids.uid);
  plan::Situation situation{.id = run.id};
  situation.home = context.environment("HOME").value_or(account.home);
  situation.caller_uid = ids.uid;
  situation.caller_gid = ids.gid;
  situation.caller_name = account.name;
  situation.workspace_source = run.workspace;
  situation.workspace_target = run.workspace;
  situation.state_directory = run.state + "/runs/" + layer;
  situation.environment = context.variables();
  situation.drop_network = options.no_network;
  situation.has_tool_gate = !options.tool_server.empty();
  situation.typed = {typed_flags(options), {}};
  if (!options.command.empty()) situation.typed.after = "-- " + spelled(options.command);
  return situation;
}

plan::MonitorSource who_sees(const policy::Policy& policy, const HostFacts& host) {
  using plan::MonitorSource;
  if (policy.settings().isolation == Isolation::gvisor) {
    return host.gvisor_traces ? MonitorSource::engine : MonitorSource::none;
  }
  if (policy.settings().isolation == Isolation::microvm) {
    return host.machine_traces ? MonitorSource::machine : MonitorSource::none;
  }
  return host.has(Feature::seccomp_notify) ? MonitorSource::witness : MonitorSource::none;
}

std::vector<std::string> own_directories(const Context& context, const std::string& home,
                                         const std::string& state) {
  std::vector<std::string> own{state};
  for (const auto& [variable, fallback] :
       {std::pair{"XDG_CACHE_HOME", "/.cache"}, std::pair{"XDG_CONFIG_HOME", "/.config"},
        std::pair{"XDG_DATA_HOME", "/.local/share"}}) {
    const auto set = context.environment(variable);
    own.push_back((set && !set->empty() ? *set : home + fallback) + "/cordon");
  }
  for (std::string& directory : own) {
    std::error_code ignored;
    directory = fs::weakly_canonical(directory, ignored).string();
  }
  return own;
}

std::vector<std::string> written_on_host(const frame::LaunchPlan& plan) {
  std::vector<std::string> written;
  if (plan.workspace.kind == frame::WorkspaceKind::live && plan.workspace.writable) {
    written.push_back(plan.workspace.source);
  }
  for (const frame::Bind& bind : plan.binds) {
    if (bind.writable) written.push_back(bind.source);
  }
  return written;
}

bool lies_in(const std::string& path, const std::string& tree) {
  return path == tree || path.starts_with(tree + "/");
}

// The record, the layers that wait for review and the cache of facts are what a later run trusts:
// no sandbox may write there.
Status keep_own_directories(const frame::LaunchPlan& plan, const std::vector<std::string>& own) {
  for (const std::string& path : written_on_host(plan)) {
    for (const std::string& directory : own) {
      if (!lies_in(path, directory) && !lies_in(directory, path)) continue;
      return Error{Errc::denied,
                   fmt::format("{} would be writable inside, and Cordon keeps its own files in {}; "
                               "choose another directory with --workspace",
                               path, directory)};
    }
  }
  return {};
}

// Grants that every document gives, each with a placeholder that nobody can guess.
Result<std::vector<node::HeldGrant>> grants_of(const policy::Policy& policy) {
  std::vector<node::HeldGrant> held;
  const auto& documents = policy.documents();
  const auto gives = [](const policy::CheckedDocument& checked, const std::string& name) {
    const policy::Credentials& credentials = checked.document().credentials;
    if (credentials.mode && credentials.mode->value == policy::CredentialMode::none) return false;
    return checked.narrows_only() ||
           std::ranges::find(credentials.grants.items, name, &policy::Grant::name) !=
               credentials.grants.items.end();
  };
  for (const policy::Grant& grant : documents.front()->document().credentials.grants.items) {
    const bool by_all = std::ranges::all_of(
        documents, [&](const auto& checked) { return gives(*checked, grant.name); });
    if (!by_all) continue;
    if (grant.source == policy::SecretSource::secret) {
      return Error{Errc::unavailable,
                   fmt::format("{}: grant {} is from = \"secret:{}\", which a service keeps; on "
                               "this machine say env:, file: or cmd:",
                               to_string(documents.front()->document(), grant.place), grant.name,
                               grant.from)};
    }
    TRY(const auto random, os::random_bytes<frame::kPlaceholderBytes>());
    held.push_back({grant, frame::placeholder_from(random)});
  }
  return held;
}

}  // namespace

Result<PreparedRun> prepare_run(const RunOptions& options, const Context& context,
                                const HostFacts& facts, WhyNot& why,
                                const std::optional<RunId>& layer) {
  TRY(const auto random, os::random_bytes<10>());
  PreparedRun run{.id = SandboxId::from_bytes(random)};
  why.id = run.id.text();
  TRY(run.state, state_root(context));
  TRY(run.workspace, find_workspace(options));
  TRY(const policy::Policy policy, policy_of_run(options, run.workspace, context, why.problems));
  const HostFacts host = with_engine(facts, policy.settings().isolation, context);
  plan::Situation situation =
      situation_of(options, context, run, layer ? layer->text() : run.id.text());
  if (!options.no_monitor) situation.monitor = who_sees(policy, host);
  TRY(const std::string images, images_root({}, context));
  TRY_DO(node::add_images(images, policy, {}, situation));
  TRY(situation.survey, node::survey(policy, situation));
  TRY(run.lowered, plan::lower(policy, host, situation, &why.denials));
  if (run.lowered.network) {
    TRY(run.grants, grants_of(policy));
  }
  run.policy = policy;
  TRY(run.root, node::hold_image_root(run.lowered.plan, situation));
  TRY_DO(
      keep_own_directories(run.lowered.plan, own_directories(context, situation.home, run.state)));
  const Level level = level_of(host).level;
  if (options.require == "full" && level != Level::full) {
    return Error{Errc::unavailable, "this host holds level " + std::string{to_string(level)} +
                                        ", below the required full; see cordon doctor"};
  }
  return run;
}

}  // namespace cordon::cli
