// SPDX-License-Identifier: Apache-2.0
// JSON in one spelling, and its digest: what two lines say alike has the same.
#pragma once

#include <string>
#include <string_view>

#include "mcp/json.h"

namespace cordon::mcp {

// Members in the order of their keys' bytes, no blanks, texts without needless escapes, numbers as
// they stand. `line` is what `value` was read from.
std::string canonical(const Json& value, std::string_view line);

// SHA-256 in hex. Of a null pointer: that of an empty object, which absent arguments mean.
std::string canonical_digest(const Json* value, std::string_view line);

// Whether some text in it, or a key, has a comment of HTML, or characters that a reader cannot see
// or that turn what it sees (base/utf8.h); line breaks and tabs are none of them.
bool has_hidden_text(const Json& value);

}  // namespace cordon::mcp
