// SPDX-License-Identifier: Apache-2.0
#include "mcp/fold.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"
#include "mcp/json.h"

namespace cordon::mcp {
namespace {

struct FoldRange {
  char32_t first;
  char32_t last;
  std::uint32_t stride;
  std::int32_t added;
};

constexpr FoldRange kRanges[] = {
#include "mcp/fold_ranges.inc"
};

char32_t fold(char32_t code) {
  const auto* const range = std::ranges::lower_bound(kRanges, code, {}, &FoldRange::last);
  if (range == std::end(kRanges) || code < range->first) return code;
  if ((code - range->first) % range->stride != 0) return code;
  return static_cast<char32_t>(static_cast<std::int64_t>(code) + range->added);
}

}  // namespace

std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.length == 0) return out.append(text);
    append_utf8(out, fold(character.code));
    text.remove_prefix(character.length);
  }
  return out;
}

}  // namespace cordon::mcp
