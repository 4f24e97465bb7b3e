// SPDX-License-Identifier: Apache-2.0
#include "unpack/names.h"

#include <algorithm>
#include <clocale>

namespace cordon::unpack {
namespace {

bool is_control(char character) {
  const auto value = static_cast<unsigned char>(character);
  return value < 0x20 || value == 0x7F;
}

}  // namespace

Error refusal(std::string_view code, std::string_view why) {
  return Error{Errc::denied, std::string{code} + ": " + std::string{why}};
}

bool use_utf8_names() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  return std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
}

Result<std::string> clean_path(std::string_view path, const Limits& limits) {
  if (path.size() > limits.name) return refusal("too_long_name", "a path");
  if (path.empty()) return refusal("unsafe_path", "an entry without a name");
  if (path.starts_with('/')) return refusal("unsafe_path", "a path from the root");
  const bool any = limits.control_characters;
  if (path.find('\0') != std::string_view::npos ||
      (!any && std::ranges::any_of(path, is_control))) {
    return refusal("unsafe_path", "a path with control characters");
  }
  std::string clean;
  std::size_t depth = 0;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") return refusal("unsafe_path", "a path that leads up");
    if (part.size() > limits.component) return refusal("too_long_name", "a part of a path");
    if (++depth > limits.depth) return refusal("too_long_name", "a path of too many parts");
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  return clean;
}

bool Names::is_seen_as(std::string_view path, frame::ArchiveType type) const {
  const auto found = seen_.find(path);
  return found != seen_.end() && found->second == type;
}

bool Names::leads_through(frame::ArchiveType type, std::string_view path) const {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    if (is_seen_as(path.substr(0, slash), type)) return true;
  }
  return false;
}

Status Names::remember(const frame::ArchiveEntry& entry) {
  const bool is_hard = entry.type == frame::ArchiveType::hard_link;
  const frame::ArchiveType type = is_hard ? frame::ArchiveType::file : entry.type;
  const auto [at, is_new] = seen_.emplace(entry.path, type);
  if (!is_new) {
    const bool again = type == frame::ArchiveType::directory && at->second == type;
    return again ? Status{} : Status{refusal("duplicate", "the name stands there already")};
  }
  bytes_ += entry.path.size();
  return bytes_ <= limits_.names ? Status{}
                                 : Status{refusal("too_long_name", "all names together")};
}

Status Names::admit(frame::ArchiveEntry& entry) {
  TRY(entry.path, clean_path(entry.path, limits_));
  if (entry.path.empty()) {
    // The directory that all lies in.
    if (entry.type != frame::ArchiveType::directory) {
      return refusal("unsafe_path", "an entry without a name");
    }
    entry.path = ".";
    return {};
  }
  if (leads_through(frame::ArchiveType::link, entry.path)) {
    return refusal("unsafe_link", "a path through a link of the same archive");
  }
  if (leads_through(frame::ArchiveType::file, entry.path)) {
    return refusal("unsafe_path", "a path through a file of the same archive");
  }
  if (entry.target.size() > limits_.name) return refusal("too_long_name", "a link's target");
  switch (entry.type) {
    case frame::ArchiveType::file:
      break;
    case frame::ArchiveType::directory:
      // Made over a link it would be what the link leads to.
      if (is_seen_as(entry.path, frame::ArchiveType::link)) {
        return refusal("unsafe_link", "a directory in the place of a link");
      }
      break;
    case frame::ArchiveType::link:
      if (entry.target.empty() || entry.target.find('\0') != std::string::npos) {
        return refusal("unsafe_link", "a link without a target");
      }
      break;
    case frame::ArchiveType::hard_link:
      TRY(entry.target, clean_path(entry.target, limits_));
      // What came as a file, under this name.
      if (!is_seen_as(entry.target, frame::ArchiveType::file)) {
        return refusal("unsafe_link", "a hard link to what is no file of the archive");
      }
      break;
  }
  return remember(entry);
}

}  // namespace cordon::unpack
