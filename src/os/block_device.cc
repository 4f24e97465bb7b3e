// SPDX-License-Identifier: Apache-2.0
// From st_dev to a disk, by /sys.
#include "os/block_device.h"

#include <charconv>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/directory.h"
#include "os/file.h"

namespace cordon::os {
namespace {

constexpr std::size_t kMostDisks = 100'000;

// "259:2" and a line's end.
Result<BlockDevice> parse_numbers(const std::string& text) {
  BlockDevice device;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, device.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != ':') {
    return Error{Errc::internal, "no device number: " + text};
  }
  if (std::from_chars(major.ptr + 1, end, device.minor).ec != std::errc{}) {
    return Error{Errc::internal, "no device number: " + text};
  }
  return device;
}

}  // namespace

Result<BlockDevice> block_device_of(const Fd& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return Error::from_errno("fstat");
  const BlockDevice device{major(status.st_dev), minor(status.st_dev)};
  const std::string entry = fmt::format("/sys/dev/block/{}:{}", device.major, device.minor);
  if (device.major == 0 || ::access(entry.c_str(), F_OK) != 0) {
    return Error{Errc::not_found, "the file system lies on no disk of its own"};
  }
  if (::access((entry + "/partition").c_str(), F_OK) != 0) return device;
  TRY(const std::string whole, read_file(at_cwd(), (entry + "/../dev").c_str()));
  return parse_numbers(whole);
}

Result<BlockDevice> any_block_device() {
  if (const auto root = openat(at_cwd(), "/", O_PATH | O_DIRECTORY)) {
    if (auto device = block_device_of(*root)) return device;
  }
  TRY(const Fd disks, openat(at_cwd(), "/sys/block", O_RDONLY | O_DIRECTORY));
  TRY(const auto names, list_directory(disks, kMostDisks));
  for (const std::string& name : names) {
    const auto text = read_file(disks, (name + "/dev").c_str());
    if (text) return parse_numbers(*text);
  }
  return Error{Errc::not_found, "this host has no disk"};
}

}  // namespace cordon::os
