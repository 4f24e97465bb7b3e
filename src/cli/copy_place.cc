// SPDX-License-Identifier: Apache-2.0
#include "cli/copy_place.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/id.h"
#include "policy/text.h"

namespace cordon::cli {

CopyPlace read_copy_place(std::string_view word) {
  const std::size_t colon = word.find(':');
  const bool names_one =
      colon != std::string_view::npos && SandboxId::parse(std::string{word.substr(0, colon)});
  if (!names_one) return {.sandbox = {}, .path = std::string{word}};
  return {.sandbox = std::string{word.substr(0, colon)},
          .path = std::string{word.substr(colon + 1)}};
}

Status check_copy(const CopyPlace& from, const CopyPlace& to) {
  if (from.sandbox.empty() == to.sandbox.empty()) {
    return Error{Errc::invalid,
                 from.sandbox.empty()
                     ? "one of the two is in a sandbox: cordon cp PATH ID:PATH, or ID:PATH PATH"
                     : "copy from one sandbox to another by way of a stream: cordon cp A:PATH - | "
                       "cordon cp - B:PATH"};
  }
  const CopyPlace& inside = from.sandbox.empty() ? to : from;
  if (!inside.path.starts_with('/')) {
    return Error{Errc::invalid, fmt::format("{}: a path inside is absolute: {}:/workspace/{}",
                                            policy::in_quotes(inside.path), inside.sandbox,
                                            policy::printable(inside.path))};
  }
  const CopyPlace& here = from.sandbox.empty() ? from : to;
  if (here.path.empty()) return Error{Errc::invalid, "an empty path names nothing"};
  return {};
}

CopyPath read_copy_path(std::string path) {
  CopyPath read;
  if (path == "." || path.ends_with("/.")) {
    read.only_contents = true;
    path.pop_back();
  }
  while (path.size() > 1 && path.ends_with('/')) {
    read.is_directory = true;
    path.pop_back();
  }
  read.path = path.empty() ? "." : std::move(path);
  return read;
}

std::string last_name(std::string_view path) {
  const std::string name{path.substr(path.find_last_of('/') + 1)};
  return name == "." || name == ".." ? std::string{} : name;
}

// `..` only in front: behind a name, which may be a link itself, nobody knows where it leads.
bool stays_inside(std::string_view path, std::string_view target) {
  if (target.empty() || target.starts_with('/')) return false;
  auto depth = std::ranges::count(path, '/');
  bool has_name = false;
  while (!target.empty()) {
    const std::string_view part = target.substr(0, target.find('/'));
    target.remove_prefix(std::min(part.size() + 1, target.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      has_name = true;
    } else if (has_name || --depth < 0) {
      return false;
    }
  }
  return true;
}

}  // namespace cordon::cli
