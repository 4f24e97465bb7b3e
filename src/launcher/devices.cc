// SPDX-License-Identifier: Apache-2.0
#include "launcher/devices.h"

#include <string>
#include <unistd.h>

#include "launcher/mount_point.h"
#include "os/device_table.h"
#include "os/file.h"
#include "os/mount.h"

namespace cordon::launcher {
namespace {

Status mount_terminals(const os::Fd& dev) {
  TRY(const os::Fd context, os::fsopen("devpts"));
  TRY_DO(os::fsconfig_flag(context, "newinstance"));
  TRY_DO(os::fsconfig_string(context, "ptmxmode", "0666"));
  TRY_DO(os::fsconfig_string(context, "mode", "0600"));
  // Terminals are counted for the whole host: without a bound one sandbox could take all.
  TRY_DO(os::fsconfig_string(context, "max", "64"));
  TRY_DO(os::fsconfig_create(context));
  TRY(const os::Fd mount, os::fsmount(context, {.nosuid = true, .noexec = true}));
  TRY(const os::Fd onto, make_directory_in(dev, "pts"));
  return os::move_mount(mount, onto);
}

}  // namespace

Result<Devices> open_devices() {
  Devices devices;
  for (const os::DeviceNode& node : os::kDeviceNodes) {
    const std::string path = std::string{"/dev/"} + node.name;
    TRY(os::Fd tree, os::open_tree(os::at_cwd(), path.c_str(), os::Reach::one));
    // Read-only keeps the node's mode and times from being changed; a device is written all the
    // same.
    TRY_DO(os::mount_setattr(tree, {.read_only = true, .nosuid = true, .noexec = true},
                             os::Reach::one));
    devices.push_back({node.name, std::move(tree)});
  }
  return devices;
}

Status mount_devices(const os::Fd& root, const Devices& devices) {
  TRY(const os::Fd dev, make_directory_in(root, "/dev"));
  for (const Device& device : devices) {
    TRY(const os::Fd onto, make_file_in(dev, device.name));
    TRY_DO(os::move_mount(device.tree, onto));
  }
  TRY_DO(mount_terminals(dev));
  for (const os::DeviceLink& link : os::kDeviceLinks) {
    if (::symlinkat(link.to, dev.get(), link.name) != 0) {
      return Error::from_errno("symlinkat").with(link.name);
    }
  }
  return {};
}

}  // namespace cordon::launcher
