// SPDX-License-Identifier: Apache-2.0
// Names of our own making: a distinct type for each kind, and only one spelling of each.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace cordon {

// Base-32, lower case, without padding (a–z, 2–7): safe in file names, host names and cgroup names.
std::string base32(std::span<const std::byte> bytes);

// True for 1 to 52 characters of base32's alphabet.
bool is_base32_name(std::string_view text) noexcept;

// An id whose only content is its text; `Tag` keeps kinds apart and names them in messages.
template <class Tag>
class Id {
 public:
  static Result<Id> parse(std::string_view text) {
    if (!is_base32_name(text)) {
      return Error{Errc::invalid, std::string{Tag::kNoun} + " id: expected 1 to 52 of a-z and 2-7"};
    }
    return Id{std::string{text}};
  }
  static Id from_bytes(std::span<const std::byte> bytes) { return Id{base32(bytes)}; }

  const std::string& text() const noexcept { return text_; }
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  explicit Id(std::string text) : text_{std::move(text)} {}
  std::string text_;
};

struct SandboxTag {
  static constexpr std::string_view kNoun = "sandbox";
};
struct RunTag {
  static constexpr std::string_view kNoun = "run";
};
using SandboxId = Id<SandboxTag>;
using RunId = Id<RunTag>;

}  // namespace cordon

template <class Tag>
struct std::hash<cordon::Id<Tag>> {
  std::size_t operator()(const cordon::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.text());
  }
};
