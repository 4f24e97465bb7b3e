// SPDX-License-Identifier: Apache-2.0
// Keys of JSON as a reader that does not mind their case would compare them.
#pragma once

#include <string>
#include <string_view>

namespace cordon::mcp {

// Simple case folding of Unicode, character by character: `ARGUMENTS` and `argument\u017F` become
// `arguments`. Before: `text` is UTF-8. Two keys with the same result are one key to some reader
// (Go's encoding/json among them).
std::string folded(std::string_view text);

}  // namespace cordon::mcp
