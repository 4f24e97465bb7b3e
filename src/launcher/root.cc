// SPDX-License-Identifier: Apache-2.0
// From an empty tmpfs to "/": skeleton, trees of the host, own disk, workspace, /proc and /dev.
#include "launcher/root.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "launcher/devices.h"
#include "launcher/mount_point.h"
#include "launcher/overlay.h"
#include "launcher/workspace.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/openat2.h"
#include "os/proc_fence.h"

namespace cordon::launcher {
namespace {

constexpr os::MountAttributes kPlainFiles{.nosuid = true, .nodev = true};

// Everything in this namespace is a private copy: the sources are detached already, and what the
// disk is mounted over is of no use any more.
Result<const char*> place_for_disk() {
  for (const char* place : {"/tmp", "/run", "/usr"}) {
    if (::access(place, F_OK) == 0) return place;
  }
  return Error{Errc::unavailable, "no directory to mount on"};
}

Result<os::Fd> make_tmpfs(const frame::Disk& disk) {
  TRY(const os::Fd context, os::fsopen("tmpfs"));
  TRY_DO(os::fsconfig_string(context, "size", std::to_string(disk.bytes).c_str()));
  TRY_DO(os::fsconfig_string(context, "nr_inodes", std::to_string(disk.inodes).c_str()));
  TRY_DO(os::fsconfig_string(context, "mode", "0755"));
  TRY_DO(os::fsconfig_create(context));
  return os::fsmount(context, kPlainFiles);
}

Result<os::Fd> mount_disk(const frame::Disk& disk, const os::Fd& image) {
  os::Fd made;
  if (!disk.image) {
    TRY(made, make_tmpfs(disk));
  }
  const os::Fd& mount = disk.image ? image : made;
  TRY(const char* place, place_for_disk());
  TRY_DO(os::move_mount(mount, os::at_cwd(), place));
  return os::openat(os::at_cwd(), place, O_PATH | O_DIRECTORY);
}

Status make_layout(const os::Fd& disk) {
  for (const char* name : {"root", "disk", "lower", "state", "pins", os::kEmpty}) {
    if (::mkdirat(disk.get(), name, 0755) != 0) return Error::from_errno("mkdirat").with(name);
  }
  TRY_DO(os::create_file(disk, os::kBlank, "", 0444));
  TRY_DO(os::create_file(disk, "hidden", "", 0));  // over files that the policy hides
  if (::mkdirat(disk.get(), "closed", 0) != 0) return Error::from_errno("mkdirat").with("closed");
  return {};
}

// Gives the directory of the limits of namespaces.
Result<os::Fd> mount_proc(const os::Fd& root, const os::Fd& disk) {
  TRY(const os::Fd context, os::fsopen("proc"));
  TRY_DO(os::fsconfig_create(context));
  TRY(const os::Fd mount, os::fsmount(context, {.nosuid = true, .nodev = true, .noexec = true}));
  TRY(const os::Fd onto, make_directory_in(root, "/proc"));
  TRY_DO(os::move_mount(mount, onto));
  TRY(const os::Fd proc, os::openat(root, "proc", O_PATH | O_DIRECTORY));
  return os::fence_proc(proc, disk);
}

// What is written to `lower` goes to the disk.
Result<os::Fd> mount_layer(const os::Fd& disk, const os::Fd& lower, const HostIds& ids) {
  for (const char* name : {"layer", "layer/base", "layer/upper", "layer/work"}) {
    if (::mkdirat(disk.get(), name, 0755) != 0) return Error::from_errno("mkdirat").with(name);
  }
  if (::fchownat(disk.get(), "layer/upper", ids.root_uid, ids.root_gid, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fchownat").with("layer/upper");
  }
  TRY_DO(os::move_mount(lower, disk, "layer/base"));
  return mount_overlay(disk, {.lower = "layer/base", .upper = "layer/upper", .work = "layer/work"},
                       ids, kPlainFiles);
}

Result<os::Fd> mount_skeleton(const GroundPlan& plan, const os::Fd& disk) {
  os::Fd root;
  if (plan.lower != nullptr) {
    TRY(root, mount_layer(disk, *plan.lower, plan.ids));
  } else {
    TRY(root, os::open_tree(disk, "root", os::Reach::one));
  }
  TRY_DO(os::move_mount(root, disk, "root"));
  return os::openat(disk, "root", O_PATH | O_DIRECTORY);
}

Status add_source(const os::Fd& root, const Source& source) {
  if (!source.tree) {
    const auto [parent, name] = split_last(source.target);
    TRY(const os::Fd dir, make_directory_in(root, parent));
    if (::symlinkat(source.link.c_str(), dir.get(), std::string{name}.c_str()) != 0) {
      return Error::from_errno("symlinkat").with(source.target);
    }
    return {};
  }
  TRY(const os::Fd onto, source.directory ? make_directory_in(root, source.target)
                                          : make_file_in(root, source.target));
  return os::move_mount(source.tree, onto);
}

Status add_file(const os::Fd& root, const frame::OwnFile& file) {
  const auto [parent, name] = split_last(file.target);
  TRY(const os::Fd dir, make_directory_in(root, parent));
  return os::create_file(dir, std::string{name}.c_str(), file.text, 0644);
}

// Over a file of an image, whose directories are not ours to write.
Status cover_file(const os::Fd& root, const os::Fd& disk, const frame::OwnFile& file,
                  std::size_t number) {
  const std::string name = fmt::format("state/own-{}", number);
  TRY_DO(os::create_file(disk, name.c_str(), file.text, 0644));
  TRY(const os::Fd tree, os::open_tree(disk, name.c_str(), os::Reach::one));
  TRY_DO(os::mount_setattr(tree, {.read_only = true, .nosuid = true, .nodev = true, .noexec = true},
                           os::Reach::one));
  auto onto = make_file_in(root, file.target);
  if (!onto) return std::move(onto).error().with(file.target + ": the image has no such file");
  return os::move_mount(tree, *onto);
}

// What is in /dev is no part of what is written to a root.
Result<os::Fd> mount_own_dev(const Ground& ground) {
  // With what is mounted in it later: a tree that is not the root's own gets no new names.
  for (const char* name : {"devices", "devices/shm"}) {
    if (::mkdirat(ground.disk.get(), name, 0755) != 0) {
      return Error::from_errno("mkdirat").with(name);
    }
  }
  TRY(const os::Fd tree, os::open_tree(ground.disk, "devices", os::Reach::one));
  TRY(const os::Fd onto, make_directory_in(ground.root, "/dev"));
  TRY_DO(os::move_mount(tree, onto));
  return os::openat(ground.root, "dev", O_PATH | O_DIRECTORY);
}

Result<std::vector<os::Fd>> make_own(const os::Fd& disk, std::size_t count) {
  std::vector<os::Fd> made;
  made.reserve(count);
  for (std::size_t number = 1; number <= count; ++number) {
    const std::string name = fmt::format("disk/{}", number);
    if (::mkdirat(disk.get(), name.c_str(), 0700) != 0) return Error::from_errno("mkdirat");
    TRY(os::Fd tree, os::open_tree(disk, name.c_str(), os::Reach::one));
    made.push_back(std::move(tree));
  }
  return made;
}

// Gives a directory of the own disk to the workload.
Status give_to_workload(const os::Fd& tree, const std::string& path, const HostIds& ids) {
  const bool shared = path == "/tmp" || path == "/var/tmp" || path == "/dev/shm";
  TRY(const os::Fd dir, os::openat(tree, ".", O_RDONLY | O_DIRECTORY));
  if (::fchown(dir.get(), ids.workload_uid, ids.workload_gid) != 0) {
    return Error::from_errno("fchown").with(path);
  }
  if (::fchmod(dir.get(), shared ? 01777 : 0755) != 0) {
    return Error::from_errno("fchmod").with(path);
  }
  return {};
}

Status add_own_directory(const os::Fd& root, const std::string& path, const os::Fd& tree,
                         const HostIds& ids) {
  TRY_DO(give_to_workload(tree, path, ids));
  TRY(const os::Fd onto, make_directory_in(root, path));
  return os::move_mount(tree, onto);
}

// One that the image has stays as it is, whoever's.
Status make_home(const os::Fd& root, const std::string& path, const HostIds& ids) {
  const auto there = os::open_beneath(
      root, path.substr(1).c_str(),
      {.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW, .symlinks = os::Symlinks::refused});
  if (there) return {};
  TRY(const os::Fd made, make_directory_in(root, path));
  TRY(const os::Fd home, os::openat(made, ".", O_RDONLY | O_DIRECTORY));
  if (::fchown(home.get(), ids.workload_uid, ids.workload_gid) != 0) {
    return Error::from_errno("fchown").with(path);
  }
  return {};
}

struct Placing {
  std::string target;
  const Source* source = nullptr;  // null: the workspace, or a directory of the own disk
  bool workspace = false;
};

std::vector<Placing> placings_of(const JudgedPlan& plan, const Sources& sources) {
  std::vector<Placing> placings;
  placings.reserve(sources.trees.size() + plan->directories.size() + 1);
  for (const Source& source : sources.trees) placings.push_back({source.target, &source});
  for (const std::string& path : plan->directories) placings.push_back({path});
  placings.push_back({.target = plan->workspace.target, .workspace = true});
  return placings;
}

}  // namespace

std::size_t own_directories(const frame::LaunchPlan& plan) {
  const bool workspace = plan.workspace.kind == frame::WorkspaceKind::own_disk;
  return plan.directories.size() + (workspace ? 1 : 0);
}

GroundPlan ground_plan(const JudgedPlan& plan, const HostIds& ids, const Sources& sources) {
  return {.disk = plan->disk,
          .image = sources.disk,
          .own = own_directories(*plan),
          .lower = plan->root_layer ? &sources.root : nullptr,
          .ids = ids};
}

Result<Ground> lay_bare_ground(const GroundPlan& plan) {
  TRY_DO(keep_mounts_apart());
  Ground ground;
  TRY(ground.disk, mount_disk(plan.disk, plan.image));
  TRY_DO(make_layout(ground.disk));
  TRY(ground.own, make_own(ground.disk, plan.own));
  TRY(ground.root, mount_skeleton(plan, ground.disk));
  return ground;
}

Result<Ground> lay_ground(const GroundPlan& plan) {
  TRY(const Devices devices, open_devices());
  TRY(Ground ground, lay_bare_ground(plan));
  if (plan.lower != nullptr) {
    TRY(ground.devices, mount_own_dev(ground));
  }
  TRY_DO(mount_devices(ground.root, devices));
  TRY(ground.limits, mount_proc(ground.root, ground.disk));
  return ground;
}

Status furnish(const Ground& ground, const JudgedPlan& plan, const HostIds& ids,
               const Sources& sources) {
  const os::Fd& root = ground.root;
  if (ground.own.size() < own_directories(*plan)) {
    return Error{Errc::internal, "too few directories of the own disk"};
  }
  const bool is_image = plan->root != frame::RootSource::host;
  for (const frame::OwnFile& file : plan->files) {
    if (!is_image) TRY_DO(add_file(root, file));
  }
  for (const std::string& home : plan->homes) TRY_DO(make_home(root, home, ids));
  // Parents before what lies below them, whatever they are: a path sorts before its continuations.
  std::vector<Placing> placings = placings_of(plan, sources);
  std::ranges::sort(placings, {}, &Placing::target);
  auto own = ground.own.begin();
  for (const Placing& placing : placings) {
    Status placed;
    if (placing.source != nullptr) {
      placed = add_source(root, *placing.source);
    } else if (!placing.workspace) {
      placed = add_own_directory(root, placing.target, *own++, ids);
    } else if (plan->workspace.kind == frame::WorkspaceKind::own_disk) {
      placed = give_to_workload(*own, placing.target, ids);
      if (placed) placed = mount_workspace(plan->workspace, root, ground.disk, *own++, {}, ids);
    } else {
      placed = mount_workspace(plan->workspace, root, ground.disk, sources.workspace, sources.state,
                               ids);
    }
    if (!placed) return std::move(placed).error().with(placing.target);
  }
  for (std::size_t number = 0; is_image && number < plan->files.size(); ++number) {
    TRY_DO(cover_file(root, ground.disk, plan->files[number], number));
  }
  // Landlock does not stand before it where the root may be written to: its mount does.
  if (ground.devices) {
    TRY_DO(os::mount_setattr(ground.devices, {.read_only = true, .nosuid = true}, os::Reach::one));
  }
  TRY(const os::Fd top, os::openat(root, ".", O_PATH | O_DIRECTORY));
  return os::mount_setattr(top, {.read_only = !plan->root_layer, .nosuid = true, .nodev = true},
                           os::Reach::one);
}

Status enter_root(const os::Fd& root) {
  TRY_DO(os::fchdir(root));
  TRY_DO(os::pivot_root(".", "."));
  TRY_DO(os::umount_detach("."));
  if (::chdir("/") != 0) return Error::from_errno("chdir");
  return {};
}

Status keep_mounts_apart() {
  return os::set_propagation(os::at_cwd(), "/", os::Propagation::private_);
}

}  // namespace cordon::launcher
