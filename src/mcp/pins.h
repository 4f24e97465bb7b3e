// SPDX-License-Identifier: Apache-2.0
// Tools as they were described when they were first seen: what has changed since waits for a
// person.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/filter_frame.h"
#include "mcp/json.h"

namespace cordon::mcp {

class PinBook {
 public:
  PinBook(const std::vector<Pin>& pins, bool is_first_sight);

  // Judges one tool of a list that the server sent; `line` is what `tool` was read from. Adds to
  // `told` where the tool is pinned now, or waits. False: it may be neither shown nor called.
  bool see(const Json& tool, std::string_view line, std::vector<FromFilter>& told);
  // The end of a list without a further page: what comes later is new.
  void end_list(std::vector<FromFilter>& told);

  // Why a call of the tool must not reach the server, half a sentence; empty: it may.
  std::string why_not(const std::string& tool) const;

 private:
  std::string why_waits(const Json& tool, const std::string& name, std::size_t size) const;

  std::map<std::string, std::string> pinned_;  // digests by name
  std::map<std::string, std::string> waits_;   // why, by name
  std::map<std::string, std::string> told_;    // digests of those that wait and were told
  bool is_first_sight_;
};

// The file that keeps them, one for each command: lines of "files SHA256" (of what the command's
// words name), "pinned NAME SHA256", "waiting NAME SHA256 WHY\tDEFINITION" and "seen" once a list
// was seen to its end.
struct WaitingTool {
  std::string tool;
  std::string sha256;
  std::string why;
  std::string definition;
  friend bool operator==(const WaitingTool&, const WaitingTool&) = default;
};
struct PinFile {
  std::vector<Pin> pinned;
  std::vector<WaitingTool> waiting;
  bool is_seen = false;
  std::string files;  // empty: nobody has looked at them yet

  void take(const Sighted& sighted);
  // All that wait, or those that are named, are pinned as they are; gives their names.
  std::vector<std::string> accept(const std::vector<std::string>& names);
  friend bool operator==(const PinFile&, const PinFile&) = default;
};
std::string to_text(const PinFile& file);
// `invalid`: not as to_text writes it.
Result<PinFile> parse_pins(std::string_view text);

}  // namespace cordon::mcp
