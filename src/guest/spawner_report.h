// SPDX-License-Identifier: Apache-2.0
// What a spawner tells pid 1, over a socket that keeps messages apart. Both ends are one program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace cordon::guest {

// What pid 1 asks for: one byte of this and the frame's body, or, of a body that is longer than
// kMostInMessage, a memfd with it. What is done aside (file acts, tunnels, watches) brings the end
// for its answer too.
// `usual`: fences that most plans have; behind them a spawner waits for `fences` of a plan that has
// no others but for its limits, and then goes on as ever.
enum class Ask : std::uint8_t { usual, fences, go, start, aside };
inline constexpr std::size_t kMostInMessage = std::size_t{8} << 10U;

// A spawner whose end of the socket closes after `begun` has become the program.
struct SpawnerReport {
  enum class Kind : std::uint8_t {
    behind,  // the usual fences stand; beside it our ends of the next program's input, out and err
    ready,   // all fences stand; beside it the same, unless they came before
    fallen,  // a step of the descent failed; the spawner ends
    begun,   // it has the request; beside it our ends where those of `ready` do not serve
    failed,  // the start asked for cannot be; the spawner ends
  };
  Kind kind = Kind::ready;
  std::int32_t error_number = 0;
  std::array<char, 20> step{};

  static SpawnerReport failure(Kind kind, std::string_view step, int error_number) {
    SpawnerReport report{.kind = kind, .error_number = error_number};
    step = step.substr(0, report.step.size() - 1);
    std::ranges::copy(step, report.step.begin());
    return report;
  }
  std::string step_text() const { return {step.begin(), std::ranges::find(step, '\0')}; }
  std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span<const SpawnerReport, 1>{this, 1});
  }
};

}  // namespace cordon::guest
