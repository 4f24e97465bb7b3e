// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/file_entry.h"

#include <chrono>
#include <cstdint>

#include "api/e2b/inner_path.h"
#include "base/time_text.h"

namespace cordon::api::e2b {
namespace {

constexpr std::uint32_t kPermissions = 07777;

// Empty: none that clients know.
std::string_view type_name(frame::FileType type) {
  switch (type) {
    case frame::FileType::file:
      return "FILE_TYPE_FILE";
    case frame::FileType::directory:
      return "FILE_TYPE_DIRECTORY";
    case frame::FileType::link:
    case frame::FileType::other:
      break;
  }
  return {};
}

std::string owner_name(std::uint32_t id) {
  if (id == 0) return "root";
  if (id == 1000) return "user";
  return std::to_string(id);
}

std::string modified_text(std::uint64_t nanoseconds) {
  const std::chrono::nanoseconds since{static_cast<std::int64_t>(nanoseconds)};
  return to_text(WallTime{std::chrono::floor<std::chrono::milliseconds>(since)});
}

}  // namespace

std::string permission_letters(frame::FileType type, std::uint32_t mode) {
  std::string letters{"----------"};
  if (type == frame::FileType::directory) letters[0] = 'd';
  if (type == frame::FileType::link) letters[0] = 'L';
  constexpr std::string_view kLetters = "rwxrwxrwx";
  for (std::size_t at = 0; at < kLetters.size(); ++at) {
    const std::uint32_t bit = 0400U >> at;
    if ((mode & bit) != 0) letters[at + 1] = kLetters[at];
  }
  return letters;
}

void write_entry(wire::JsonWriter& json, const NamedEntry& named) {
  const bool is_link = named.entry.type == frame::FileType::link;
  const frame::FileEntry& shown = named.pointed ? *named.pointed : named.entry;
  json.begin_object();
  json.text("name", base_name(named.path));
  if (const auto type = type_name(shown.type); !type.empty()) json.text("type", type);
  json.text("path", named.path);
  json.text("size", std::to_string(shown.size));
  json.number("mode", std::uint64_t{shown.mode & kPermissions});
  json.text("permissions", permission_letters(named.entry.type, shown.mode));
  json.text("owner", owner_name(shown.user));
  json.text("group", owner_name(shown.group));
  json.text("modifiedTime", modified_text(shown.modified));
  if (is_link) json.text("symlinkTarget", named.entry.target);
  json.end_object();
}

std::string entry_json(const NamedEntry& named) {
  wire::JsonWriter json;
  json.begin_object();
  json.key("entry");
  write_entry(json, named);
  json.end_object();
  return json.take();
}

std::string entries_json(const std::vector<NamedEntry>& entries) {
  wire::JsonWriter json;
  json.begin_object();
  json.key("entries");
  json.begin_array();
  for (const NamedEntry& each : entries) write_entry(json, each);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string written_json(const std::vector<std::string>& paths) {
  wire::JsonWriter json;
  json.begin_array();
  for (const std::string& path : paths) {
    json.begin_object();
    json.text("path", path);
    json.text("name", base_name(path));
    json.text("type", "file");
    json.end_object();
  }
  json.end_array();
  return json.take();
}

}  // namespace cordon::api::e2b
