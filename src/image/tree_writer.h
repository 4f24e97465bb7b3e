// SPDX-License-Identifier: Apache-2.0
// Writes what cordon-unpack says of a layer into a directory that nobody else writes to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/archive.h"
#include "os/fd.h"

namespace cordon::image {

enum class Owners : std::uint8_t {
  kept,  // those of the layer: only root can give files away
  ours,
};

// No name leads out of the directory: links on the way are refused, whoever made them.
class TreeWriter {
 public:
  TreeWriter(const os::Fd& top, Owners owners) : top_{top}, owners_{owners} {}

  Status take(const frame::ArchiveEntry& entry);
  Status take(const frame::ArchiveData& data);
  // Directories get the modes and times that they are to have: nothing is written to them any more.
  Status end();

 private:
  // Where the last name of `path` belongs; made where an archive left it out.
  Result<os::Fd> parent_of(const std::string& path);
  Status make(const frame::ArchiveEntry& entry);
  Status make_directory(const frame::ArchiveEntry& entry);
  Status make_file(const frame::ArchiveEntry& entry);
  Status make_link(const frame::ArchiveEntry& entry);
  Status make_hard_link(const frame::ArchiveEntry& entry);
  Status end_file();

  const os::Fd& top_;
  Owners owners_;
  frame::ArchiveEntry at_;  // the file that is being written
  os::Fd file_;             // of it; nothing: none is
  std::vector<frame::ArchiveEntry> directories_;
};

}  // namespace cordon::image
