// SPDX-License-Identifier: Apache-2.0
// Opening the sources: beneath the floor, without links, each as a detached mount.
#include "launcher/sources.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/user_namespace.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/mount.h"

namespace cordon::launcher {
namespace {

// Of the top of a directory root.
constexpr std::size_t kMostEntries = 1024;

// Of a directory root these are never taken: they are ours.
bool is_ours(std::string_view name) {
  return name == "proc" || name == "dev" || name == "sys" || name == "tmp" || name == "run" ||
         name == "home" || name == "root" || name == "lost+found";
}

struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
  friend auto operator<=>(const Owner&, const Owner&) = default;
};

class Opener {
 public:
  Opener(const JudgedPlan& plan, const HostIds& ids, const os::Fd& range, const FloorSources& floor,
         ErofsRoots& roots)
      : plan_{plan}, ids_{ids}, range_{range}, floor_{floor}, roots_{roots} {}

  Result<Sources> open();

 private:
  Status add_bind(const frame::Bind& bind);
  Status add_root();
  Result<os::Fd> open_root() const;
  Status add_root_entry(const os::Fd& root, const std::string& name);
  Status open_workspace();
  Status open_state();
  // A detached copy of what `path` is, with these attributes.
  Result<os::Fd> detach(const os::Fd& path, bool writable) const;
  Status map_owner(const os::Fd& tree, const os::Fd& path);
  bool maps() const { return plan_->ids == frame::Ids::range; }

  const JudgedPlan& plan_;
  const HostIds& ids_;
  const os::Fd& range_;
  const FloorSources& floor_;
  ErofsRoots& roots_;
  std::map<Owner, os::Fd> owners_;
  Sources found_;
};

Result<struct stat> stat_of(const os::Fd& fd) {
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return Error::from_errno("fstat");
  return st;
}

Result<os::Fd> Opener::detach(const os::Fd& path, bool writable) const {
  TRY(os::Fd tree, os::open_tree(path));
  TRY_DO(os::mount_setattr(tree, {.read_only = !writable, .nosuid = true, .nodev = true}));
  return tree;
}

Status Opener::map_owner(const os::Fd& tree, const os::Fd& path) {
  if (!maps()) return {};
  TRY(const struct stat st, stat_of(path));
  const Owner owner{st.st_uid, st.st_gid};
  auto known = owners_.find(owner);
  if (known == owners_.end()) {
    std::vector<os::IdRange> uids{{owner.uid, ids_.workload_uid, 1}};
    std::vector<os::IdRange> gids{{owner.gid, ids_.workload_gid, 1}};
    // gVisor makes a file as root of the sandbox's namespace, and gives it to its owner then.
    const bool serves = plan_->engine == frame::Engine::gvisor;
    if (serves && ids_.root_uid != ids_.workload_uid)
      uids.push_back({ids_.root_uid, ids_.root_uid, 1});
    if (serves && ids_.root_gid != ids_.workload_gid)
      gids.push_back({ids_.root_gid, ids_.root_gid, 1});
    TRY(os::Fd made, make_user_namespace(uids, gids));
    known = owners_.emplace(owner, std::move(made)).first;
  }
  return os::idmap_mount(tree, known->second);
}

Status Opener::add_bind(const frame::Bind& bind) {
  auto opened = floor_.open_plain(bind.source, O_PATH | O_NOFOLLOW);
  if (!opened) {
    if (bind.optional && opened.error().code() == Errc::not_found) return {};
    return std::move(opened).error().with(bind.source);
  }
  TRY(const struct stat st, stat_of(*opened));
  if (S_ISLNK(st.st_mode) && bind.optional) {
    // Of the host's own trees a link is shown as the link that it is (/bin to usr/bin).
    TRY(std::string text, os::readlinkat(*opened, ""));
    found_.trees.push_back({bind.target, os::Fd{}, std::move(text), false});
    return {};
  }
  if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
    if (bind.optional) return {};
    return Error{Errc::invalid, bind.source + ": neither a file nor a directory"};
  }
  TRY(os::Fd tree, detach(*opened, bind.writable));
  if (!bind.optional) TRY_DO(map_owner(tree, *opened));
  found_.trees.push_back({bind.target, std::move(tree), {}, S_ISDIR(st.st_mode)});
  return {};
}

Status Opener::add_root_entry(const os::Fd& root, const std::string& name) {
  const std::string target = "/" + name;
  TRY(const os::Fd entry, os::openat(root, name.c_str(), O_PATH | O_NOFOLLOW));
  TRY(const struct stat st, stat_of(entry));
  if (S_ISLNK(st.st_mode)) {
    TRY(std::string text, os::readlinkat(root, name.c_str()));
    found_.trees.push_back({target, os::Fd{}, std::move(text), false});
    return {};
  }
  if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) return {};
  TRY(os::Fd tree, os::open_tree(entry));
  if (maps()) TRY_DO(os::idmap_mount(tree, range_));
  TRY_DO(os::mount_setattr(tree, {.read_only = true, .nosuid = true, .nodev = true}));
  found_.trees.push_back({target, std::move(tree), {}, S_ISDIR(st.st_mode)});
  return {};
}

Result<os::Fd> Opener::open_root() const {
  if (plan_->root == frame::RootSource::directory) {
    return floor_.open_plain(plan_->root_path, O_PATH | O_NOFOLLOW);
  }
  TRY(const os::Fd file, floor_.open_plain(plan_->root_path, O_RDONLY | O_NOFOLLOW));
  return roots_.open(file, plan_->root_file);
}

Status Opener::add_root() {
  if (plan_->root == frame::RootSource::host) return {};
  auto root = open_root();
  if (!root) return std::move(root).error().with("root " + plan_->root_path);
  if (plan_->root_layer) {
    // Roots of other images hang over this one: they are none of it.
    TRY(found_.root, os::open_tree(*root, os::Reach::one));
    if (maps()) TRY_DO(os::idmap_mount(found_.root, range_));
    return os::mount_setattr(found_.root, {.read_only = true, .nosuid = true, .nodev = true},
                             os::Reach::one);
  }
  TRY(const os::Fd listing, os::openat(*root, ".", O_RDONLY | O_DIRECTORY));
  TRY(const std::vector<std::string> names, os::list_directory(listing, kMostEntries));
  for (const std::string& name : names) {
    if (!is_ours(name)) TRY_DO(add_root_entry(*root, name));
  }
  return {};
}

Status Opener::open_workspace() {
  const frame::Workspace& workspace = plan_->workspace;
  if (workspace.kind == frame::WorkspaceKind::own_disk) return {};
  auto opened = floor_.open_plain(workspace.source, O_PATH | O_DIRECTORY);
  if (!opened) return std::move(opened).error().with("workspace " + workspace.source);
  const bool through = workspace.kind == frame::WorkspaceKind::live && workspace.writable;
  TRY(found_.workspace, detach(*opened, through));
  TRY_DO(map_owner(found_.workspace, *opened));
  return {};
}

Status Opener::open_state() {
  const frame::Workspace& workspace = plan_->workspace;
  if (workspace.kind != frame::WorkspaceKind::review) return {};
  auto opened = floor_.open_plain(workspace.state, O_PATH | O_DIRECTORY);
  if (!opened) return std::move(opened).error().with("state " + workspace.state);
  for (const char* name : {"upper", "work"}) {
    if (::mkdirat(opened->get(), name, 0700) != 0 && errno != EEXIST) {
      return Error::from_errno("mkdirat").with(name);
    }
    // Written by the workload's id, which on the host is nobody else's.
    if (maps() && ::fchownat(opened->get(), name, ids_.workload_uid, ids_.workload_gid,
                             AT_SYMLINK_NOFOLLOW) != 0) {
      return Error::from_errno("fchownat").with(name);
    }
  }
  TRY(found_.state, detach(*opened, true));
  return {};
}

Result<Sources> Opener::open() {
  TRY_DO(add_root());
  for (const frame::Bind& bind : plan_->binds) TRY_DO(add_bind(bind));
  TRY_DO(open_workspace());
  TRY_DO(open_state());
  return std::move(found_);
}

}  // namespace

Result<Sources> open_sources(const JudgedPlan& plan, const HostIds& ids,
                             const os::Fd& range_namespace, const FloorSources& floor,
                             ErofsRoots& roots) {
  return Opener{plan, ids, range_namespace, floor, roots}.open();
}

}  // namespace cordon::launcher
