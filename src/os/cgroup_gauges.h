// SPDX-License-Identifier: Apache-2.0
// Figures of one sandbox's groups that are looked at again and again: each is read from the one
// file that tells it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace cordon::os {

class CgroupGauges {
 public:
  // `directories`: of one sandbox, in any hierarchies of either version. Files are looked for at
  // the first reading; no descriptor is held.
  explicit CgroupGauges(std::vector<std::string> directories)
      : directories_{std::move(directories)} {}

  // Nothing: no group counts it.
  std::optional<std::uint64_t> memory_bytes();
  std::optional<std::uint64_t> pids();
  std::optional<std::uint64_t> pids_refused();
  std::optional<std::chrono::microseconds> cpu();

 private:
  // A file of one of the directories.
  struct Place {
    std::size_t directory = 0;
    const char* file = nullptr;  // nothing: there is none
  };
  void find();
  Place place_of(std::initializer_list<const char*> files) const;
  std::optional<std::uint64_t> read(const Place& place, const char* key = nullptr) const;

  std::vector<std::string> directories_;
  bool found_ = false;
  Place memory_;
  Place pids_;
  Place refused_;
  Place nanoseconds_;
  Place microseconds_;
};

}  // namespace cordon::os
