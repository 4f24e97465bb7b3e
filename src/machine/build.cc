// SPDX-License-Identifier: Apache-2.0
#include "machine/build.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "machine/decompress.h"
#include "machine/initramfs.h"
#include "machine/kernel_image.h"
#include "machine/module_order.h"
#include "os/directory.h"
#include "os/file.h"

namespace cordon::machine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "vmlinuz-";
constexpr std::string_view kForClouds = "-cloud-";
constexpr std::size_t kMostFile = std::size_t{128} << 20U;
constexpr std::array<std::string_view, 4> kWanted{"virtio_mmio", "virtio_console", "fuse",
                                                  "virtio_net"};

Result<std::string> read_path(const std::string& path, std::size_t most = kMostFile) {
  auto bytes = os::read_file(os::at_cwd(), path.c_str(), most);
  if (!bytes) return std::move(bytes).error().with(path);
  return bytes;
}

// Seen whole or not at all.
Status put(const os::Fd& directory, const char* name, std::string_view bytes) {
  const std::string part = std::string{name} + ".part";
  static_cast<void>(os::unlinkat(directory, part.c_str()));
  TRY_DO(os::create_file(directory, part.c_str(), bytes, 0644));
  return os::renameat(directory, part.c_str(), directory, name, os::Replace::allow);
}

Result<std::vector<PackedFile>> modules_of(const Kernel& kernel) {
  TRY(const std::string dependencies, read_path(kernel.modules + "/modules.dep"));
  TRY(const std::string built_in, read_path(kernel.modules + "/modules.builtin"));
  TRY(const auto order, module_order(dependencies, built_in, kWanted));
  std::vector<PackedFile> files;
  files.reserve(order.size() + 1);
  std::string names;
  for (const std::string& path : order) {
    TRY(const std::string bytes, read_path(kernel.modules + "/" + path));
    TRY(std::string module, decompress(bytes, kMostFile));
    const std::string name = module_name(path) + ".ko";
    names += name + "\n";
    files.push_back({.path = "modules/" + name, .bytes = std::move(module)});
  }
  files.push_back({.path = "modules/order", .bytes = std::move(names)});
  return files;
}

std::string stamp_of(const std::string& path) {
  std::error_code ignored;
  return fmt::format("{} {} {}", path, fs::file_size(path, ignored),
                     fs::last_write_time(path, ignored).time_since_epoch().count());
}

}  // namespace

Result<Kernel> find_kernel() {
  std::vector<std::string> versions;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{"/boot", ignored}) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    std::string version = name.substr(kPrefix.size());
    if (fs::exists("/lib/modules/" + version + "/modules.dep", ignored)) {
      versions.push_back(std::move(version));
    }
  }
  const auto rank = [](const std::string& version) {
    return std::pair{version.find(kForClouds) != std::string::npos, version};
  };
  const auto best = std::ranges::max_element(versions, {}, rank);
  if (best == versions.end()) {
    return Error{Errc::not_found, "no kernel in /boot whose modules are in /lib/modules"};
  }
  return Kernel{.file = fmt::format("/boot/{}{}", kPrefix, *best),
                .modules = "/lib/modules/" + *best};
}

std::string key_of(const Kernel& kernel, const Programs& programs) {
  return fmt::format("2 {} {} {}\n", stamp_of(kernel.file), stamp_of(programs.init),
                     stamp_of(programs.recorder));
}

Status build(const Kernel& kernel, const Programs& programs, const std::string& directory) {
  TRY(const std::string image, read_path(kernel.file));
  TRY(const std::string vmlinux, kernel_of(image));
  TRY(std::string init, read_path(programs.init));
  TRY(std::string recorder, read_path(programs.recorder));
  std::vector<PackedFile> files{
      {.path = "dev", .bytes = {}, .mode = 040755},
      {.path = "modules", .bytes = {}, .mode = 040755},
      {.path = "init", .bytes = std::move(init), .mode = 0100755},
      {.path = "recorder", .bytes = std::move(recorder), .mode = 0100755},
  };
  TRY(auto modules, modules_of(kernel));
  std::ranges::move(modules, std::back_inserter(files));
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) return Error{Errc::unavailable, directory + ": " + failed.message()};
  TRY(const os::Fd place, os::openat(os::at_cwd(), directory.c_str(), O_RDONLY | O_DIRECTORY));
  static_cast<void>(os::unlinkat(place, "key"));
  TRY_DO(put(place, "vmlinux", vmlinux));
  TRY_DO(put(place, "initramfs", pack(files)));
  return put(place, "key", key_of(kernel, programs));
}

bool is_built(const Kernel& kernel, const Programs& programs, const std::string& directory) {
  const auto key = os::read_file(os::at_cwd(), (directory + "/key").c_str());
  return key && *key == key_of(kernel, programs);
}

}  // namespace cordon::machine
