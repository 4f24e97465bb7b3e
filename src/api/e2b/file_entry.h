// SPDX-License-Identifier: Apache-2.0
// Files as clients of this face are told of them. (pure)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/resident.h"
#include "wire/json_writer.h"

namespace cordon::api::e2b {

struct NamedEntry {
  std::string path;
  frame::FileEntry entry;                   // of the name itself
  std::optional<frame::FileEntry> pointed;  // of a link: what it leads to; nothing: nowhere
};

// "-rw-r--r--": ten letters.
std::string permission_letters(frame::FileType type, std::uint32_t mode);

void write_entry(wire::JsonWriter& json, const NamedEntry& named);
std::string entry_json(const NamedEntry& named);                   // {"entry":…}
std::string entries_json(const std::vector<NamedEntry>& entries);  // {"entries":[…]}

// What was written: [{"path":…,"name":…,"type":"file"}]
std::string written_json(const std::vector<std::string>& paths);

}  // namespace cordon::api::e2b
