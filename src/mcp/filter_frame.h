// SPDX-License-Identifier: Apache-2.0
// What `cordon` and the filter of a wrapped server tell each other, as frames (frame/guest.h has
// the cutter) over two pipes. Each frame to the filter is answered by what is to be done, in that
// order, and then by Done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/egress.h"
#include "frame/fields.h"

namespace cordon::mcp {

// Bytes of a stream in one frame, and the longest frame with its type byte.
inline constexpr std::size_t kMostBytes = std::size_t{256} << 10U;
inline constexpr std::size_t kLongestFrame = std::size_t{4} << 20U;
// Of one tool as the server describes it; a longer one is nothing that anybody reads.
inline constexpr std::size_t kLongestTool = std::size_t{64} << 10U;
inline constexpr std::size_t kMostPins = 1024;
inline constexpr std::size_t kLongestToolName = 128;

struct ToolRuleSent {
  std::string tool;
  std::uint8_t effect = 0;  // of policy::Effect
  std::string arguments;
  std::optional<std::uint64_t> calls_per_minute;
  std::string why;
  frame::RulePlace place;
  CORDON_FIELDS(ToolRuleSent, self.tool, self.effect, self.arguments, self.calls_per_minute,
                self.why, self.place);
};

struct ToolServerSent {
  std::string name;
  std::vector<ToolRuleSent> rules;
  frame::RulePlace place;
  CORDON_FIELDS(ToolServerSent, self.name, self.rules, self.place);
};

// What one document of the policy says of tools.
struct ToolDocument {
  std::uint8_t origin = 0;            // of policy::Origin
  std::vector<frame::NetFile> files;  // the first is the document's own
  std::vector<ToolServerSent> servers;
  CORDON_FIELDS(ToolDocument, self.origin, self.files, self.servers);
};

struct Pin {
  std::string tool;
  std::string sha256;  // in hex, of its description
  CORDON_FIELDS(Pin, self.tool, self.sha256);
};

// The first frame.
struct Setup {
  std::string server;  // as [tools.NAME] calls it
  std::string sandbox;
  std::vector<ToolDocument> documents;
  std::vector<Pin> pins;
  bool is_first_sight = true;  // no list of tools was seen to its end before
  std::uint64_t longest_line = 0;
  std::vector<std::string> let;  // methods that the server may ask the client for
  std::string key;               // random: what the filter makes of it nobody guesses
  std::string accept;            // what a person types to accept a changed tool
  CORDON_FIELDS(Setup, self.server, self.sandbox, self.documents, self.pins, self.is_first_sight,
                self.longest_line, self.let, self.key, self.accept);
};
struct FromClient {
  std::string bytes;
  CORDON_FIELDS(FromClient, self.bytes);
};
struct FromServer {
  std::string bytes;
  CORDON_FIELDS(FromServer, self.bytes);
};
using ToFilter = std::variant<Setup, FromClient, FromServer>;

struct ToClient {
  std::string bytes;
  CORDON_FIELDS(ToClient, self.bytes);
};
struct ToServer {
  std::string bytes;
  CORDON_FIELDS(ToServer, self.bytes);
};
// A call that goes to the server: recorded before it does.
struct Called {
  std::string tool;
  std::string arguments;  // their SHA-256 in hex
  std::string rule;
  bool approved = false;  // by a person, this once
  CORDON_FIELDS(Called, self.tool, self.arguments, self.rule, self.approved);
};
// Something did not go through: a Denial.
struct Refused {
  std::string code;
  std::string tried;
  std::string resolved;
  std::string rule;
  std::string why;
  std::string fix;
  std::string action;
  CORDON_FIELDS(Refused, self.code, self.tried, self.resolved, self.rule, self.why, self.fix,
                self.action);
};
// A tool that is not pinned as it is: pinned now, or waiting for a person to accept it.
struct Sighted {
  std::string tool;
  std::string sha256;
  bool is_pinned = false;
  std::string why;         // it waits
  std::string definition;  // one line of JSON, where it waits
  CORDON_FIELDS(Sighted, self.tool, self.sha256, self.is_pinned, self.why, self.definition);
};
// The first list of tools was seen to its end: what comes later is new.
struct SightOver {
  CORDON_FIELDS(SightOver);
};
// The link cannot go on.
struct Broken {
  std::string why;
  CORDON_FIELDS(Broken, self.why);
};
struct Done {
  CORDON_FIELDS(Done);
};
using FromFilter =
    std::variant<ToClient, ToServer, Called, Refused, Sighted, SightOver, Broken, Done>;

// With the length in front.
std::vector<std::byte> encode(const ToFilter& frame);
std::vector<std::byte> encode(const FromFilter& frame);
// `body`: a whole frame without its length. Whoever says it may have been taken over: names are
// names of tools, digests are digests, and texts are short.
Result<ToFilter> decode_to_filter(std::span<const std::byte> body);
Result<FromFilter> decode_from_filter(std::span<const std::byte> body);

// What MCP allows as the name of a tool, and no policy could name another.
bool is_tool_name(std::string_view name) noexcept;
bool is_digest(std::string_view text) noexcept;

}  // namespace cordon::mcp
