// SPDX-License-Identifier: Apache-2.0
// Which names of an archive's entries are taken.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "frame/archive.h"
#include "unpack/limits.h"

namespace cordon::unpack {

// A refusal is an Error whose text begins with one of the codes of frame::ArchiveRefused.
Error refusal(std::string_view code, std::string_view why);

// Names in an archive may be said to be UTF-8: with this, once, they are taken as they are. False:
// this machine has no such locale, and what is not ASCII there is refused. For a process of one
// thread, before it is confined.
bool use_utf8_names();

// "./a//b/" becomes "a/b"; "." becomes empty. Refused: an absolute path, `..`, a NUL or another
// control character, too long, too deep.
Result<std::string> clean_path(std::string_view path, const Limits& limits);

// What has been seen so far. Whoever writes the entries does so beneath a directory that no link
// leads out of; this keeps an archive from trying.
class Names {
 public:
  explicit Names(const Limits& limits) : limits_{limits} {}

  // Cleans `entry`, whose names are the archive's, or refuses it.
  Status admit(frame::ArchiveEntry& entry);

 private:
  bool leads_through(frame::ArchiveType type, std::string_view path) const;
  // A name stands in an archive once, unless it is a directory's. `duplicate` otherwise, or beyond
  // what is kept `too_long_name`.
  Status remember(const frame::ArchiveEntry& entry);

  bool is_seen_as(std::string_view path, frame::ArchiveType type) const;

  Limits limits_;
  // A hard link is a file like the one it names.
  std::map<std::string, frame::ArchiveType, std::less<>> seen_;
  std::size_t bytes_ = 0;  // of its names
};

}  // namespace cordon::unpack
