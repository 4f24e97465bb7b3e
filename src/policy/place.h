// SPDX-License-Identifier: Apache-2.0
// Where a rule was written, and by whom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::policy {

// Who wrote a document, and with that what it may name (origin_rules.h).
enum class Origin : std::uint8_t {
  builtin,    // a preset in the binary
  site,       // the operator of this machine
  user,       // the person whose machine and files these are
  request,    // a client of the API
  workspace,  // a file in the tree that the agent works on: may only narrow
};
std::string_view to_string(Origin origin) noexcept;
std::optional<Origin> origin_from(std::string_view text) noexcept;

// A line and a column, both from 1; line 0: not written anywhere.
struct Mark {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Mark&, const Mark&) = default;
};

// A mark in one of the sources of a document. Source 0 is the document's own file, the others are
// the presets that it extends.
struct Place {
  std::uint32_t source = 0;
  Mark mark;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Source {
  std::string name;  // "cordon.toml", "preset:claude"
  Origin origin = Origin::user;
  friend bool operator==(const Source&, const Source&) = default;
};

// A value together with the place that states it.
template <class T>
struct Stated {
  T value;
  Place place;
  friend bool operator==(const Stated&, const Stated&) = default;
};

}  // namespace cordon::policy
