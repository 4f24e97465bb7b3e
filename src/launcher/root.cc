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
#include "launcher/proc.h"
#include "launcher/workspace.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/openat2.h"

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
  for (const char* name : {"root", "disk", "lower", "state", "pins", "empty"}) {
    if (::mkdirat(disk.get(), name, 0755) != 0) return Error::from_errno("mkdirat").with(name);
  }
  TRY_DO(os::create_file(disk, "blank", "", 0444));  // over files of /proc: reads as empty
  TRY_DO(os::create_file(disk, "hidden", "", 0));    // over files that the policy hides
  if (::mkdirat(disk.get(), "closed", 0) != 0) return Error::from_errno("mkdirat").with("closed");
  return {};
}

Result<os::Fd> mount_skeleton(const os::Fd& disk) {
  TRY(const os::Fd root, os::open_tree(disk, "root", os::Reach::one));
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

// A directory of the own disk, attached at its path and given to the workload.
Status add_own_directory(const os::Fd& root, const os::Fd& disk, const std::string& path,
                         std::size_t number, const HostIds& ids) {
  const std::string name = fmt::format("disk/{}", number);
  const bool shared = path == "/tmp" || path == "/var/tmp" || path == "/dev/shm";
  if (::mkdirat(disk.get(), name.c_str(), 0700) != 0) return Error::from_errno("mkdirat");
  TRY(const os::Fd dir, os::openat(disk, name.c_str(), O_RDONLY | O_DIRECTORY));
  if (::fchown(dir.get(), ids.workload_uid, ids.workload_gid) != 0) {
    return Error::from_errno("fchown").with(path);
  }
  if (::fchmod(dir.get(), shared ? 01777 : 0755) != 0)
    return Error::from_errno("fchmod").with(path);
  TRY(const os::Fd tree, os::open_tree(disk, name.c_str(), os::Reach::one));
  TRY(const os::Fd onto, make_directory_in(root, path));
  return os::move_mount(tree, onto);
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

Status make_root_of(const os::Fd& root) {
  TRY_DO(os::fchdir(root));
  TRY_DO(os::pivot_root(".", "."));
  TRY_DO(os::umount_detach("."));
  if (::chdir("/") != 0) return Error::from_errno("chdir");
  // Detached copies of shared mounts would still send and receive mounts.
  return os::set_propagation(os::at_cwd(), "/", os::Propagation::private_);
}

}  // namespace

Result<os::Fd> build_root(const JudgedPlan& plan, const HostIds& ids, const Sources& sources) {
  TRY_DO(os::set_propagation(os::at_cwd(), "/", os::Propagation::private_));
  TRY(const Devices devices, open_devices());
  TRY(const os::Fd disk, mount_disk(plan->disk, sources.disk));
  TRY_DO(make_layout(disk));
  TRY(const os::Fd root, mount_skeleton(disk));

  for (const frame::OwnFile& file : plan->files) TRY_DO(add_file(root, file));
  TRY_DO(mount_devices(root, devices));
  // Parents before what lies below them, whatever they are: a path sorts before its continuations.
  std::vector<Placing> placings = placings_of(plan, sources);
  std::ranges::sort(placings, {}, &Placing::target);
  std::size_t number = 0;
  for (const Placing& placing : placings) {
    Status placed = placing.source != nullptr ? add_source(root, *placing.source)
                    : placing.workspace
                        ? mount_workspace(plan->workspace, root, disk, sources, ids)
                        : add_own_directory(root, disk, placing.target, ++number, ids);
    if (!placed) return std::move(placed).error().with(placing.target);
  }
  TRY(os::Fd limits, mount_proc(root, disk));

  TRY(const os::Fd top, os::openat(root, ".", O_PATH | O_DIRECTORY));
  TRY_DO(
      os::mount_setattr(top, {.read_only = true, .nosuid = true, .nodev = true}, os::Reach::one));
  TRY_DO(make_root_of(root));
  return limits;
}

}  // namespace cordon::launcher
