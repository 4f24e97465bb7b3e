// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_gauges.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

#include "os/cgroup_file.h"
#include "os/file.h"

namespace cordon::os {
namespace {

// Each file is shorter: a number, or a few lines of them.
constexpr std::size_t kLongest = 512;

}  // namespace

CgroupGauges::Place CgroupGauges::place_of(std::initializer_list<const char*> files) const {
  for (const char* file : files) {
    for (std::size_t at = 0; at < directories_.size(); ++at) {
      if (::access((directories_[at] + '/' + file).c_str(), R_OK) == 0) return {at, file};
    }
  }
  return {};
}

void CgroupGauges::find() {
  if (found_) return;
  found_ = true;
  memory_ = place_of({"memory.usage_in_bytes", "memory.current"});
  pids_ = place_of({"pids.current"});
  refused_ = place_of({"pids.events"});
  nanoseconds_ = place_of({"cpuacct.usage"});
  if (nanoseconds_.file == nullptr) microseconds_ = place_of({"cpu.stat"});
}

std::optional<std::uint64_t> CgroupGauges::read(const Place& place, const char* key) const {
  if (place.file == nullptr) return {};
  const std::string path = directories_[place.directory] + '/' + place.file;
  const auto file = openat(at_cwd(), path.c_str(), O_RDONLY);
  if (!file) return {};
  std::array<char, kLongest> text{};
  const ssize_t got = ::read(file->get(), text.data(), text.size());
  if (got <= 0) return {};
  const std::string_view all{text.data(), static_cast<std::size_t>(got)};
  return key == nullptr ? parse_number(all) : parse_keyed(all, key);
}

std::optional<std::uint64_t> CgroupGauges::memory_bytes() {
  find();
  return read(memory_);
}

std::optional<std::uint64_t> CgroupGauges::pids() {
  find();
  return read(pids_);
}

std::optional<std::uint64_t> CgroupGauges::pids_refused() {
  find();
  return read(refused_, "max");
}

std::optional<std::chrono::microseconds> CgroupGauges::cpu() {
  find();
  if (const auto nanoseconds = read(nanoseconds_)) {
    return std::chrono::microseconds{*nanoseconds / 1000};
  }
  if (const auto microseconds = read(microseconds_, "usage_usec")) {
    return std::chrono::microseconds{*microseconds};
  }
  return {};
}

}  // namespace cordon::os
