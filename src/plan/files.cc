// SPDX-License-Identifier: Apache-2.0
#include "plan/files.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "plan/admit.h"
#include "plan/mounts.h"
#include "plan/pins.h"
#include "policy/glob.h"
#include "policy/host_view.h"

namespace cordon::plan {
namespace {

using policy::Access;

bool allows(const Request& request, Access access, std::string_view path) {
  return request.policy.decide(policy::PathQuery{access, path, request.workspace}).allowed();
}

void refuse_workspace(const Request& request, std::string_view path, std::string why) {
  request.refusals.add(Errc::invalid, "WORKSPACE",
                       {.tried = fmt::format("workspace {}", path),
                        .rule = "default",
                        .why = std::move(why) + "; choose another directory with --workspace",
                        .fix = {}});
}

// A workspace must not lie over a tree that a sandbox has for itself, nor over the system's.
void check_target(const Request& request) {
  const std::string& target = request.workspace;
  if (!policy::is_normal_path(target) || target == "/") {
    refuse_workspace(request, target,
                     "it must be an absolute path inside, without `.`, `..` or `//`, and not `/`");
    return;
  }
  for (const std::string_view own : {"/proc", "/sys", "/dev"}) {
    if (policy::below(target, own))
      refuse_workspace(request, target, fmt::format("{} belongs to the sandbox itself", own));
  }
  const auto lies_over = [&](std::string_view tree) {
    return policy::below(tree, target).has_value();
  };
  if (std::ranges::any_of(policy::host_trees(), lies_over) || lies_over("/etc"))
    refuse_workspace(request, target, "it would lie over the system's own tree");
}

void check_source(const Request& request, const std::string& source) {
  const std::string& home = request.situation.home;
  if (!policy::is_normal_path(source)) {
    refuse_workspace(request, source, "it must be an absolute path, without `.`, `..` or `//`");
  } else if (source == "/" || (policy::is_normal_path(home) && policy::below(home, source))) {
    refuse_workspace(request, source, "it is too wide: it shows every secret there");
  }
}

void refuse_host(const Request& request, Feature feature, std::string_view why) {
  const Fact& fact = request.host[feature];
  request.refusals.add(
      Errc::unavailable, "HOST",
      {.tried = std::string{to_string(feature)},
       .rule = "default",
       .why = fmt::format("{}, and on this host that is {}{}", why, to_string(fact.support),
                          fact.detail.empty() ? "" : fmt::format(" ({})", fact.detail)),
       .fix = fact.remedy.empty() ? "cordon doctor" : fact.remedy});
}

// As root ids are mapped, and only an id-mapped mount can show a directory's owner inside.
void check_mapping(const Request& request, bool shows_directories) {
  if (!request.host.root) return;
  if (!request.host.has(Feature::id_ranges))
    refuse_host(request, Feature::id_ranges, "as root every sandbox has a range of ids of its own");
  if (shows_directories && !request.host.has(Feature::idmapped_mounts)) {
    refuse_host(request, Feature::idmapped_mounts,
                "as root a directory of the host is shown through an id-mapped mount");
  }
}

// The line that asks for review.
std::string review_rule(const Request& request) {
  for (const auto& checked : request.policy.documents()) {
    const auto& review = checked->document().filesystem.review;
    if (review && review->value) return rule_text(checked->document(), review->place);
  }
  return "default";
}

frame::Workspace workspace_of(const Request& request) {
  const Situation& situation = request.situation;
  frame::Workspace workspace{.kind = frame::WorkspaceKind::own_disk,
                             .source = {},
                             .target = request.workspace,
                             .writable = allows(request, Access::write, request.workspace),
                             .state = {},
                             .pins = {}};
  check_target(request);
  if (!allows(request, Access::read, request.workspace)) {
    const policy::Decision decision = request.policy.decide(
        policy::PathQuery{Access::read, request.workspace, request.workspace});
    const auto& document = request.policy.documents()[decision.document]->document();
    request.refusals.add(Errc::invalid, "WORKSPACE",
                         {.tried = fmt::format("workspace {}", request.workspace),
                          .rule = rule_text(document, decision.place),
                          .why = "the policy hides the workspace itself, or does not grant it",
                          .fix = Request::show(document, decision.place)});
  }
  if (!situation.workspace_source) return workspace;
  workspace.kind = frame::WorkspaceKind::live;
  workspace.source = *situation.workspace_source;
  check_source(request, workspace.source);
  if (!request.settings.review) return workspace;
  workspace.kind = frame::WorkspaceKind::review;
  workspace.state = situation.state_directory;
  if (!policy::is_normal_path(workspace.state)) {
    request.refusals.add(Errc::internal, "REVIEW",
                         {.tried = "filesystem.review",
                          .rule = review_rule(request),
                          .why = "the run has no directory that could hold the changes",
                          .fix = {}});
  }
  if (!request.host.has(Feature::overlay)) {
    const Fact& fact = request.host[Feature::overlay];
    request.refusals.add(
        Errc::unavailable, "REVIEW",
        {.tried = "filesystem.review",
         .rule = review_rule(request),
         .why = fmt::format("changes can wait only in an overlay, and on this host that is {}",
                            to_string(fact.support)),
         .fix = fact.remedy.empty() ? request.with_flag("--live") : fact.remedy});
  }
  return workspace;
}

// What of the host's programs and of its /etc the policy lets be seen.
void add_system(const Request& request, const Identity& identity, Files& files) {
  const std::vector<frame::OwnFile> own = own_files(identity, "cordon", !is_offline(request));
  for (const frame::OwnFile& file : own) {
    if (allows(request, Access::read, file.target)) files.files.push_back(file);
  }
  const auto is_ours = [&](std::string_view path) {
    return std::ranges::find(own, path, &frame::OwnFile::target) != own.end();
  };
  const auto add = [&](std::string_view path) {
    if (is_ours(path) || !allows(request, Access::read, path)) return;
    files.binds.push_back({std::string{path}, std::string{path}, false, true});
  };
  std::ranges::for_each(policy::host_trees(), add);
  std::ranges::for_each(policy::host_etc(), add);
}

// An image has its own users and programs; how names are found is ours to say.
void add_names(const Identity& identity, Files& files) {
  constexpr std::array<std::string_view, 3> kOurs = {"/etc/hosts", "/etc/nsswitch.conf",
                                                     "/etc/resolv.conf"};
  for (const frame::OwnFile& file : own_files(identity, "cordon", true)) {
    if (std::ranges::find(kOurs, file.target) != kOurs.end()) files.files.push_back(file);
  }
}

// Directories on the own disk. What the policy puts at the same place goes before; below a
// workspace they would need mount points in somebody's tree.
std::vector<std::string> own_directories(const Request& request, const Identity& identity,
                                         const std::vector<frame::Bind>& mounts) {
  std::vector<std::string> directories = {"/dev/shm", identity.home, "/tmp", "/var/tmp"};
  std::erase_if(directories, [&](const std::string& directory) {
    return directory == request.workspace ||
           std::ranges::find(mounts, directory, &frame::Bind::target) != mounts.end();
  });
  for (const std::string& directory : directories) {
    if (policy::below(directory, request.workspace)) {
      refuse_workspace(request, request.workspace,
                       fmt::format("it would lie over {}, the sandbox's own", directory));
    }
  }
  return directories;
}

// Of an image; nothing of it, and a refusal: there is none of that name.
Root image_root(const Request& request, const std::string& name, std::string rule,
                std::string fix) {
  const auto& images = request.situation.images;
  if (const auto found = images.find(name); found != images.end()) {
    const ImageRoot& image = found->second;
    const bool is_file = !image.file.digest.empty();
    return {.source = is_file ? frame::RootSource::erofs : frame::RootSource::directory,
            .path = image.path,
            .file = image.file,
            .image = image.digest.empty() ? name : name + " " + image.digest,
            .environment = image.environment,
            .has_layer = image.has_layer};
  }
  std::string known;
  for (const auto& [each, directory] : images) known += (known.empty() ? "" : ", ") + each;
  request.refusals.add(
      Errc::unavailable, "ROOT",
      {.tried = fmt::format("filesystem.root = \"image:{}\"", name),
       .rule = std::move(rule),
       .why = images.empty()
                  ? std::string{"there is no such image here; cordon image ls shows those "
                                "that are, cordon image pull, import and build make more"}
                  : fmt::format("there is no such image; there are: {}", known),
       .fix = std::move(fix)});
  return {};
}

}  // namespace

Root root_of(const Request& request) {
  const policy::PolicyDocument* by = nullptr;
  policy::Stated<policy::Root> first{};
  for (const auto& checked : request.policy.documents()) {
    const policy::PolicyDocument& document = checked->document();
    if (!document.filesystem.root) continue;
    const policy::Stated<policy::Root>& root = *document.filesystem.root;
    if (by == nullptr) {
      by = &document;
      first = root;
    } else if (first.value != root.value) {
      request.refusals.add(
          Errc::invalid, "ROOT",
          {.tried = "filesystem.root",
           .rule = rule_text(document, root.place),
           .why = fmt::format("{} names another root", rule_text(*by, first.place)),
           .fix = Request::show(document, root.place)});
    }
  }
  if (by == nullptr && !request.situation.default_image.empty()) {
    return image_root(request, request.situation.default_image, "default", {});
  }
  if (by != nullptr && first.value.kind == policy::RootKind::image) {
    return image_root(request, first.value.name, rule_text(*by, first.place),
                      Request::show(*by, first.place));
  }
  if (by != nullptr && first.value.kind == policy::RootKind::dir) {
    return {.source = frame::RootSource::directory, .path = first.value.name};
  }
  return {};
}

Files files_of(const Request& request, const Root& root, const Identity& identity) {
  Files files;
  if (root.source == frame::RootSource::host) {
    add_system(request, identity, files);
  } else if (!is_offline(request)) {
    add_names(identity, files);
  }
  files.workspace = workspace_of(request);
  const std::vector<frame::Bind> mounts =
      granted_mounts(request.policy, request.situation, request.workspace, request.refusals);
  files.directories = own_directories(request, identity, mounts);
  if (root.has_layer) {
    // It is a part of the root then, as everything else that is written to it.
    if (std::erase(files.directories, identity.home) > 0) files.homes.push_back(identity.home);
  }
  for (const frame::Bind& mount : mounts) {
    if (!policy::is_normal_path(mount.source)) {
      request.refusals.add(Errc::invalid, "MOUNT",
                           {.tried = fmt::format("mount {} at {}", mount.source, mount.target),
                            .rule = "default",
                            .why = "the caller's home is not known as an absolute path",
                            .fix = {}});
    }
  }
  const bool host_workspace = files.workspace.kind != frame::WorkspaceKind::own_disk;
  check_mapping(request, host_workspace || !mounts.empty());
  files.writes_to_host =
      (host_workspace && files.workspace.writable) ||
      std::ranges::any_of(mounts, [](const frame::Bind& mount) { return mount.writable; });
  files.workspace.pins = pins_of(request, root, files, mounts);
  files.mounts = mounts.size();
  files.binds.insert(files.binds.end(), mounts.begin(), mounts.end());
  return files;
}

}  // namespace cordon::plan
