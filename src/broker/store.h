// SPDX-License-Identifier: Apache-2.0
// Secrets that outlive the broker: one file, opened by somebody else, in which nothing can be read
// or changed without a key that is not in it.
//
// The file is two headers and a run of sealed records. A header says where the run begins and ends;
// the newer one counts, so that a write that was cut off leaves the older state. A run that has
// become mostly dead is written anew behind itself, and its blocks are given back. What is not
// found out: that the whole file was put back to an earlier state of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "broker/seal.h"
#include "os/fd.h"
#include "os/locked_memory.h"

namespace cordon::broker {

struct StoredName {
  std::string tenant;
  std::string name;
  friend auto operator<=>(const StoredName&, const StoredName&) = default;
};

class Store {
 public:
  static constexpr std::size_t kMost = 4096;          // secrets
  static constexpr std::size_t kLongestName = 128;    // of a tenant, of a secret
  static constexpr std::uint64_t kFirst = 8192;       // behind the headers
  static constexpr std::uint64_t kIdle = 64U << 10U;  // so much dead is left alone

  // An empty file is a new store. `invalid`: it was changed, or `key` is another one's: nothing of
  // it is used then.
  static Result<Store> open(os::Fd file, os::LockedMemory key);

  // Returns when it is on the disk. Replaces one of that name. After an error what was there before
  // is still there, and where the disk failed nothing can be changed until the store is opened
  // anew.
  Status keep(const StoredName& name, std::span<const std::byte> secret);
  // False: there was none.
  Result<bool> drop(const StoredName& name);
  bool has(const StoredName& name) const { return places_.contains(name); }
  // `not_found`, or what reading it back shows.
  Result<os::LockedMemory> read(const StoredName& name) const;
  // In order, those behind `after`, at most `most`.
  std::vector<std::string> names(std::string_view tenant, std::string_view after,
                                 std::size_t most) const;

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;    // as sealed
    std::uint64_t number = 0;  // in its run
    std::uint32_t head = 0;    // what stands before the secret
  };
  struct Header {
    std::uint64_t sequence = 0;
    std::uint64_t begin = kFirst;
    std::uint64_t end = kFirst;
    std::uint64_t count = 0;
  };
  enum class Change : std::uint8_t { kept = 1, dropped = 2 };

  Store(os::Fd file, os::LockedMemory key) : file_{std::move(file)}, key_{std::move(key)} {}

  Status read_header();
  Status read_run();
  Status write_header(Header header);
  // At the end of `header`'s run, which it lengthens.
  Result<Place> append(Header& header, Change change, const StoredName& name,
                       std::span<const std::byte> secret);
  Result<os::LockedMemory> open_record(std::uint64_t begin, const Place& place) const;
  Status compact();

  os::Fd file_;
  os::LockedMemory key_;
  Header header_;
  std::map<StoredName, Place> places_;
  std::uint64_t live_ = 0;  // bytes of the run that places_ refers to
  bool stuck_ = false;      // a header was not written: nothing is changed any more
};

}  // namespace cordon::broker
