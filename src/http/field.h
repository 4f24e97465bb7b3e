// SPDX-License-Identifier: Apache-2.0
// One field line, and the fields that say how long a body is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "http/characters.h"
#include "http/head.h"
#include "http/line_cutter.h"

namespace cordon::http {

struct FieldView {
  std::string_view name;
  std::string_view value;  // trimmed
  std::size_t at = 0;      // of the name
  std::size_t value_at = 0;
};

// Refuses continued lines, a space before the colon, names that are no token, and control
// characters in the value.
Result<FieldView> parse_field(const Line& line, std::string_view where, Alphabet alphabet);

// Digits alone, without needless zeros, at most 2^63 - 1: what every reader takes for the same
// number.
Result<std::uint64_t> parse_length(std::string_view digits);

// Takes `field` into `announced` when it is Content-Length or Transfer-Encoding, and says whether
// it was. Refuses a second one, both together, another coding than `chunked`, that coding in
// HTTP/1.0, and names that some servers take for these two.
Result<bool> take_announced(const FieldView& field, Version version, Announced& announced);

// Whether this is one of those names, or one that some servers take for them: it has no place among
// the `fields` of a head.
bool is_framing_name(std::string_view name) noexcept;

}  // namespace cordon::http
