// SPDX-License-Identifier: Apache-2.0
#include "wire/unit.h"

#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace cordon::wire {

std::string to_text(const Unit& unit) {
  const auto before = std::chrono::floor<std::chrono::seconds>(unit.before).time_since_epoch();
  return fmt::format("{} {} {}", unit.index, unit.number, before.count());
}

Result<Unit> read_unit(std::string_view text) {
  std::array<std::uint64_t, 3> said{};
  for (std::size_t at = 0; at < said.size(); ++at) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), said[at]);
    const bool is_last = at + 1 == said.size();
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (failure != std::errc{} || (is_last ? !text.empty() : !text.starts_with(' '))) {
      return Error{Errc::invalid, fmt::format("{}: INDEX NUMBER BEFORE", kUnitField)};
    }
    if (!is_last) text.remove_prefix(1);
  }
  constexpr std::uint64_t kLastSecond = 1ULL << 33U;
  if (said[2] > kLastSecond)
    return Error{Errc::invalid, fmt::format("{}: no such time", kUnitField)};
  return Unit{
      .index = said[0], .number = said[1], .before = WallTime{std::chrono::seconds{said[2]}}};
}

}  // namespace cordon::wire
