// SPDX-License-Identifier: Apache-2.0
#include "mcp/filter_frame.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/utf8.h"
#include "frame/variant.h"
#include "hash/sha256.h"

namespace cordon::mcp {
namespace {

constexpr std::size_t kLongestWords = 4096;

Status check_words(std::initializer_list<const std::string*> texts) {
  for (const std::string* const text : texts) {
    if (text->size() > kLongestWords || !is_utf8(*text))
      return Error{Errc::invalid, "the filter says too much, or no text"};
  }
  return {};
}

Status check_tool(const std::string& tool, const std::string& digest) {
  if (is_tool_name(tool) && is_digest(digest)) return {};
  return Error{Errc::invalid, "the filter names no tool, or no digest"};
}

struct Check {
  Status operator()(const Called& called) const {
    TRY_DO(check_tool(called.tool, called.arguments));
    return check_words({&called.rule});
  }
  Status operator()(const Refused& refused) const {
    if (!refused.code.starts_with("CORDON-"))
      return Error{Errc::invalid, "the filter refuses by no code"};
    return check_words({&refused.code, &refused.tried, &refused.resolved, &refused.rule,
                        &refused.why, &refused.fix, &refused.action});
  }
  Status operator()(const Sighted& sighted) const {
    TRY_DO(check_tool(sighted.tool, sighted.sha256));
    TRY_DO(check_words({&sighted.why}));
    if (sighted.definition.size() > kLongestTool || !is_utf8(sighted.definition) ||
        sighted.definition.find('\n') != std::string::npos ||
        sighted.why.find_first_of("\n\t") != std::string::npos) {
      return Error{Errc::invalid, "the filter shows a tool that is no line"};
    }
    return {};
  }
  Status operator()(const Broken& broken) const { return check_words({&broken.why}); }
  template <class Other>
  Status operator()(const Other& /*other*/) const {
    return {};
  }
};

}  // namespace

bool is_tool_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kLongestToolName && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

bool is_digest(std::string_view text) noexcept {
  std::array<std::byte, kDigestSize> ignored{};
  return text.size() == 2 * kDigestSize && from_hex(text, ignored);
}

std::vector<std::byte> encode(const ToFilter& frame) {
  return frame::with_length(frame::encode_variant(frame));
}
std::vector<std::byte> encode(const FromFilter& frame) {
  return frame::with_length(frame::encode_variant(frame));
}

Result<ToFilter> decode_to_filter(std::span<const std::byte> body) {
  return frame::decode_variant<ToFilter>(body);
}

Result<FromFilter> decode_from_filter(std::span<const std::byte> body) {
  TRY(FromFilter frame, frame::decode_variant<FromFilter>(body));
  TRY_DO(std::visit(Check{}, frame));
  return frame;
}

}  // namespace cordon::mcp
