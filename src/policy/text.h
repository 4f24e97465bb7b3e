// SPDX-License-Identifier: Apache-2.0
// Texts from outside: which characters they may have, and how they are shown in messages.
#pragma once

#include <string>
#include <string_view>

namespace cordon::policy {

// Bytes below 0x20 (tab and newline too), 0x7F, and in UTF-8 the C1 controls, the line separators
// and the marks that turn the direction of writing: none has a use in a policy, and each can make a
// terminal or a log show something else than what is enforced.
bool has_control_character(std::string_view text) noexcept;

// `text` without control characters and with at most 120 bytes, for a message.
std::string printable(std::string_view text);

// `text` in backquotes, printable.
std::string quoted(std::string_view text);

}  // namespace cordon::policy
