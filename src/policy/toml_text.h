// SPDX-License-Identifier: Apache-2.0
// Where things stand in the text of a TOML document. All of it is for text that read_toml() took.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "policy/place.h"

namespace cordon::policy {

// The byte at which `mark` stands: its column counts characters.
std::size_t offset_of(std::string_view text, Mark mark);

// Of the line in which `at` is: its first byte, and the byte of its newline or the text's end.
std::size_t begin_of_line(std::string_view text, std::size_t at);
std::size_t end_of_line(std::string_view text, std::size_t at);
// The blanks that its line begins with, where nothing else stands before `at`.
std::optional<std::string> indent_before(std::string_view text, std::size_t at);

// Behind the value that begins at `at`: a text, a list, an inline table, a number or a word.
std::size_t end_of_value(std::string_view text, std::size_t at);

// What is between the brackets of a list, or the braces of an inline table.
struct Inside {
  std::size_t first = 0;             // where the last item begins
  std::optional<std::size_t> last;   // behind the last item; nothing: there is none
  std::optional<std::size_t> comma;  // of the comma behind that
  std::size_t close = 0;             // the closing bracket
};
// Before: a bracket or a brace stands at `at`.
Inside inside_of(std::string_view text, std::size_t at);

}  // namespace cordon::policy
