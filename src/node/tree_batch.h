// SPDX-License-Identifier: Apache-2.0
// The entries of an archive on their way to acts that make them: many small ones in one, a large
// one in many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/archive.h"
#include "frame/guest_tree.h"

namespace cordon::node {

class TreeBatch {
 public:
  // In the order of the archive. Before: not full. The directory that all lies in is passed over.
  void take(frame::ArchiveEntry entry);
  // `invalid`: there was no file before.
  Status take(const frame::ArchiveData& data);
  // Nothing follows. Directories get their modes and times now: one that may not be written had to
  // be filled first.
  void end();

  bool is_full() const noexcept;
  bool is_empty() const noexcept { return held_.pieces.empty(); }
  // What there is, for one act; without request and paths. After end(): again, until it is empty.
  frame::WriteTree cut();

 private:
  void add(frame::TreePiece piece);
  void end_file();
  void add_directories();

  frame::WriteTree held_;
  std::size_t used_ = 0;
  std::optional<frame::ArchiveEntry> file_;  // whose bytes come
  bool has_last_ = false;                    // its last piece is the last that is held
  bool is_whole_ = false;                    // and its only one
  std::vector<frame::ArchiveEntry> directories_;
  bool has_ended_ = false;
};

}  // namespace cordon::node
