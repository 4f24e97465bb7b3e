// SPDX-License-Identifier: Apache-2.0
// The guest protocol's part about whole trees: many entries in one act. Done like a file act
// (guest_files.h), with the same rights, and answered by FileReply.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/archive.h"
#include "frame/fields.h"

namespace cordon::frame {

// Of one act, either way.
inline constexpr std::size_t kMostTreePieces = 2000;
// Names, targets and contents of one act, together.
inline constexpr std::size_t kMostTreeBytes = std::size_t{1} << 20U;

// An entry, and bytes of a file.
struct TreePiece {
  ArchiveEntry entry;  // `size`: of the whole file
  // 0: what is there under this name gives way to it, unless it is a directory. Else the file is
  // there already, and goes on here.
  std::uint64_t offset = 0;
  std::uint32_t count = 0;  // of the act's bytes, those that no piece before has taken
  CORDON_FIELDS(TreePiece, self.entry, self.offset, self.count);
};

// Makes the pieces below `path`, one after the other; directories that are missing above one are
// made (0755). A directory that is there already stays, with the new mode and time. No path leads
// through a link below `path` (ELOOP). The first that cannot be made ends the act: its name is in
// the reply's `bytes`.
struct WriteTree {
  std::uint32_t request = 0;
  std::string path;     // a directory, absolute, inside; made where it is missing
  std::string beneath;  // as in FileRequest
  std::vector<TreePiece> pieces;
  std::string bytes;  // of all pieces, in their order
  CORDON_FIELDS(WriteTree, self.request, self.path, self.beneath, self.pieces, self.bytes);
};

// Tells what lies below `path`, each directory before what is in it, names in the order of their
// bytes; or of a file that alone. The reply has the entries, whose names are relative, and in
// `bytes` the contents of its files one after the other, each with its size; the last may have
// fewer than that. What is neither file, directory nor link is passed over. `more`: ask again, with
// the last name in `after`. What cannot be read is an error: its name is in the reply's `bytes`.
struct ReadTree {
  std::uint32_t request = 0;
  std::string path;
  std::string beneath;
  std::string after;  // empty: from the beginning
  // Not 0: bytes of the file `after` from here on, and no entry.
  std::uint64_t offset = 0;
  CORDON_FIELDS(ReadTree, self.request, self.path, self.beneath, self.after, self.offset);
};

}  // namespace cordon::frame
