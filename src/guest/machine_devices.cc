// SPDX-License-Identifier: Apache-2.0
#include "guest/machine_devices.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "os/directory.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

constexpr std::chrono::seconds kLongestWait{20};
constexpr std::chrono::microseconds kStep{500};
constexpr const char* kPorts = "/sys/class/virtio-ports";
constexpr std::size_t kMostPorts = 64;

Status mount_new(const char* type, const char* where) {
  if (::mkdir(where, 0755) != 0 && errno != EEXIST) return Error::from_errno("mkdir").with(where);
  if (::mount(type, where, type, MS_NOSUID | MS_NOEXEC, nullptr) != 0 && errno != EBUSY) {
    return Error::from_errno("mount").with(where);
  }
  return {};
}

Status load_module(const std::string& path) {
  TRY(const os::Fd file, os::openat(os::at_cwd(), path.c_str(), O_RDONLY));
  if (::syscall(SYS_finit_module, file.get(), "", 0) != 0 && errno != EEXIST) {
    return Error::from_errno("finit_module").with(path);
  }
  return {};
}

Result<os::Fd> find_port(std::string_view wanted) {
  TRY(const os::Fd ports, os::openat(os::at_cwd(), kPorts, O_RDONLY | O_DIRECTORY));
  TRY(const auto names, os::list_directory(ports, kMostPorts));
  for (const std::string& port : names) {
    TRY(const std::string name, os::read_file(ports, (port + "/name").c_str()));
    if (name != std::string{wanted} + "\n") continue;
    return os::openat(os::at_cwd(), ("/dev/" + port).c_str(), O_RDWR | O_NONBLOCK);
  }
  return Error::from_errno("port", ENOENT);
}

}  // namespace

Status mount_kernel_files() {
  TRY_DO(mount_new("devtmpfs", "/dev"));
  TRY_DO(mount_new("proc", "/proc"));
  TRY_DO(mount_new("sysfs", "/sys"));
  return mount_new("cgroup2", "/groups");
}

Status load_modules() {
  TRY(const std::string order, os::read_file(os::at_cwd(), "/modules/order"));
  for (std::size_t at = 0; at < order.size();) {
    const std::size_t end = std::min(order.find('\n', at), order.size());
    if (end > at) TRY_DO(load_module("/modules/" + order.substr(at, end - at)));
    at = end + 1;
  }
  return {};
}

Status make_group() {
  if (::mkdir(kGroup, 0755) != 0) return Error::from_errno("mkdir").with(kGroup);
  return {};
}

void end_before_thrashing() {
  // What was used within so many milliseconds stays.
  for (const auto& [file, value] : {std::pair{"enabled", "y"}, std::pair{"min_ttl_ms", "1000"}}) {
    const std::string path = std::string{"/sys/kernel/mm/lru_gen/"} + file;
    static_cast<void>(os::write_file(os::at_cwd(), path.c_str(), value));
  }
}

// A port is there before it has a name, and has a name before it can be opened.
Result<os::Fd> open_port(std::string_view name) {
  const auto late = std::chrono::steady_clock::now() + kLongestWait;
  for (;;) {
    auto port = find_port(name);
    if (port || std::chrono::steady_clock::now() > late) return port;
    std::this_thread::sleep_for(kStep);
  }
}

}  // namespace cordon::guest
