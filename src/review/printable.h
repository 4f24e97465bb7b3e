// SPDX-License-Identifier: Apache-2.0
// Bytes that somebody else chose, as text that cannot steer a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::review {

enum class Spelling : std::uint8_t {
  name,  // a backslash is doubled and a tab escaped: one spelling for each sequence of bytes
  line,  // of a file's text: backslashes and tabs stay as they are
};

// Printable ASCII and valid UTF-8 stay. Characters that deceive a reader (base/utf8.h) and bytes
// that are no UTF-8 become \n, \t or \xNN.
std::string printable(std::string_view bytes, Spelling spelling = Spelling::name);

}  // namespace cordon::review
