// SPDX-License-Identifier: Apache-2.0
// What the words of `cordon cp` name: a place in a sandbox, a place here, or a stream.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::cli {

struct CopyPlace {
  std::string sandbox;  // its id; empty: here
  std::string path;     // "-" here: the standard stream
  bool is_stream() const noexcept { return sandbox.empty() && path == "-"; }
};

// "ID:PATH", a path, or "-". Where an id could be a file's name, "./ID:PATH" is the file.
CopyPlace read_copy_place(std::string_view word);

// One in a sandbox, one not. `invalid` otherwise, and where the path inside is not absolute.
Status check_copy(const CopyPlace& from, const CopyPlace& to);

// Without slashes and "/." behind it; `only_contents` where it ended in "/.".
struct CopyPath {
  std::string path;
  bool only_contents = false;
  bool is_directory = false;  // it ended in a slash
};
CopyPath read_copy_path(std::string path);

// The last name of a path; empty where it has none.
std::string last_name(std::string_view path);

// Whether a link at `path`, which is relative to the top of a tree, to `target` leads nowhere but
// into the tree, whatever other links of this kind there are.
bool stays_inside(std::string_view path, std::string_view target);

}  // namespace cordon::cli
