// SPDX-License-Identifier: Apache-2.0
#include "launcher/workspace.h"

#include <fcntl.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/mount_point.h"
#include "launcher/overlay.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/openat2.h"

namespace cordon::launcher {
namespace {

constexpr os::MountAttributes kWritableMount{.nosuid = true, .nodev = true};
constexpr os::MountAttributes kReadOnlyMount{.read_only = true, .nosuid = true, .nodev = true};

// Placeholders stand in a layer of our own; the workload could not write there anyway before the
// pin covers them.
Status make_placeholders(const frame::Workspace& workspace, const os::Fd& layer) {
  for (const frame::Pin& pin : workspace.pins) {
    if (!pin.placeholder) continue;
    const auto made =
        pin.directory ? make_directory_in(layer, pin.path) : make_file_in(layer, "/" + pin.path);
    if (!made) return made.error();
  }
  return {};
}

Status chown_to_workload(const os::Fd& dir, const char* name, const HostIds& ids) {
  if (::fchownat(dir.get(), name, ids.workload_uid, ids.workload_gid, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fchownat").with(name);
  }
  return {};
}

Status prepare_own(const frame::Workspace& workspace, const os::Fd& tree) {
  TRY(const os::Fd layer, os::openat(tree, ".", O_PATH | O_DIRECTORY));
  TRY_DO(make_placeholders(workspace, layer));
  return os::mount_setattr(tree, workspace.writable ? kWritableMount : kReadOnlyMount,
                           os::Reach::one);
}

Result<os::Fd> overlay(const frame::Workspace& workspace, const os::Fd& disk, const os::Fd& lower,
                       const os::Fd& state, const HostIds& ids) {
  TRY_DO(os::move_mount(lower, disk, "lower"));
  TRY_DO(os::move_mount(state, disk, "state"));
  TRY(const os::Fd layer, os::openat(disk, "pins", O_PATH | O_DIRECTORY));
  TRY_DO(make_placeholders(workspace, layer));
  TRY_DO(chown_to_workload(disk, "pins", ids));
  return mount_overlay(disk, {.lower = "lower:pins", .upper = "state/upper", .work = "state/work"},
                       ids, workspace.writable ? kWritableMount : kReadOnlyMount);
}

Result<os::Fd> open_in(const os::Fd& top, const std::string& path) {
  return os::open_beneath(top, path.c_str(),
                          {.flags = O_PATH | O_NOFOLLOW, .symlinks = os::Symlinks::refused});
}

// A directory that is a mount point can be neither renamed nor removed: so each one above a pin
// becomes one, or the pin would be carried away with it.
Status hold_ancestors(const os::Fd& top, const frame::Pin& pin, std::set<std::string>& held) {
  for (std::size_t slash = pin.path.find('/'); slash != std::string::npos;
       slash = pin.path.find('/', slash + 1)) {
    const std::string above = pin.path.substr(0, slash);
    if (!held.insert(above).second) continue;
    TRY(const os::Fd dir, open_in(top, above));
    TRY(const os::Fd tree, os::open_tree(dir, os::Reach::one));
    TRY_DO(os::move_mount(tree, dir));
  }
  return {};
}

Status lay_pin(const os::Fd& top, const os::Fd& disk, const frame::Pin& pin) {
  TRY(const os::Fd onto, open_in(top, pin.path));
  struct stat st{};
  if (::fstat(onto.get(), &st) != 0) return Error::from_errno("fstat");
  const bool hides = pin.kind == frame::PinKind::hide;
  TRY(const os::Fd tree,
      hides ? os::open_tree(disk, S_ISDIR(st.st_mode) ? "closed" : "hidden", os::Reach::one)
            : os::open_tree(onto, os::Reach::whole_tree));
  TRY_DO(os::mount_setattr(tree, kReadOnlyMount));
  return os::move_mount(tree, onto);
}

}  // namespace

Status mount_workspace(const frame::Workspace& workspace, const os::Fd& root, const os::Fd& disk,
                       const os::Fd& tree, const os::Fd& state, const HostIds& ids) {
  os::Fd made;
  switch (workspace.kind) {
    case frame::WorkspaceKind::own_disk: {
      TRY_DO(prepare_own(workspace, tree));
      break;
    }
    case frame::WorkspaceKind::review: {
      TRY(made, overlay(workspace, disk, tree, state, ids));
      break;
    }
    case frame::WorkspaceKind::live:
      break;
  }
  TRY(const os::Fd onto, make_directory_in(root, workspace.target));
  TRY_DO(os::move_mount(made ? made : tree, onto));
  TRY(const os::Fd top, make_directory_in(root, workspace.target));
  std::set<std::string> held;
  for (const frame::Pin& pin : workspace.pins) {
    Status laid = hold_ancestors(top, pin, held);
    if (laid) laid = lay_pin(top, disk, pin);
    if (!laid) return std::move(laid).error().with("pin " + pin.path);
  }
  return {};
}

}  // namespace cordon::launcher
