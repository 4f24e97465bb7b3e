// SPDX-License-Identifier: Apache-2.0
// Texts from outside: which characters they may have, and how they are shown in messages.
#pragma once

#include <string>
#include <string_view>

namespace cordon::policy {

// Controls (tab and newline too) and whatever else deceives a reader (base/utf8.h): none has a use
// in a policy, and each can make a terminal or a log show something else than what is enforced.
bool has_control_character(std::string_view text) noexcept;

// For a message: a question mark for each control character and each byte that is no UTF-8, and cut
// after 120 bytes.
std::string printable(std::string_view text);

// `text` in backquotes, printable.
std::string in_quotes(std::string_view text);

}  // namespace cordon::policy
