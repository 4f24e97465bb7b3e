// SPDX-License-Identifier: Apache-2.0
#include "launcher/io_limit.h"

#include <set>
#include <string_view>

#include "os/block_device.h"

namespace cordon::launcher {
namespace {

class Disks {
 public:
  void add(os::BlockDevice device) { found_.insert(device); }

  void add_if_known(const os::Fd& tree) {
    if (const auto device = os::block_device_of(tree)) add(*device);
  }

  Status add(const os::Fd& tree, std::string_view what) {
    if (!tree) return {};
    auto device = os::block_device_of(tree);
    if (!device) {
      return Error{Errc::unavailable, device.error().text()}.with("an I/O limit for " +
                                                                  std::string{what});
    }
    add(*device);
    return {};
  }

  std::vector<os::IoLimit> limited_to(std::uint64_t bytes) const {
    std::vector<os::IoLimit> limits;
    limits.reserve(found_.size());
    for (const os::BlockDevice& device : found_) {
      limits.push_back({.major = device.major,
                        .minor = device.minor,
                        .read_bytes = bytes,
                        .write_bytes = bytes,
                        .read_operations = {},
                        .write_operations = {}});
    }
    return limits;
  }

 private:
  std::set<os::BlockDevice> found_;
};

bool is_of_the_system(const JudgedPlan& plan, const Source& source) {
  for (const frame::Bind& bind : plan->binds) {
    if (bind.target == source.target) return bind.optional;
  }
  return true;  // of a directory root
}

}  // namespace

Result<std::vector<os::IoLimit>> io_limits(const JudgedPlan& plan, const Sources& sources,
                                           const DiskImage* image) {
  const std::optional<std::uint64_t>& bytes = plan->limits.io_bytes;
  if (!bytes) return std::vector<os::IoLimit>{};
  Disks disks;
  for (const Source& source : sources.trees) {
    if (!source.tree) continue;
    if (is_of_the_system(plan, source)) {
      disks.add_if_known(source.tree);
    } else {
      TRY_DO(disks.add(source.tree, source.target));
    }
  }
  TRY_DO(disks.add(sources.workspace, "the workspace"));
  TRY_DO(disks.add(sources.state, "the layer of changes"));
  if (image != nullptr) disks.add({image->major(), image->minor()});
  return disks.limited_to(*bytes);
}

}  // namespace cordon::launcher
