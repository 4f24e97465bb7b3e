// SPDX-License-Identifier: Apache-2.0
// Lines of the stream of events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "record/denial.h"
#include "record/verdict.h"
#include "wire/answers.h"

namespace cordon::wire {

struct EventAnswer {
  std::string cursor;      // of a reader that has it
  std::string_view event;  // "sandbox.created", …
  WallTime at{};
  std::string_view tenant;
  std::string_view sandbox;
  std::optional<Verdict> verdict;
  std::optional<Denial> denial;
  std::optional<std::uint32_t> process;
  std::uint32_t pid = 0;
  std::string program;
  std::optional<ExitAnswer> exit;
  std::string failure;
};
// With its newline.
std::string event_line(const EventAnswer& event);
// There were events that are not held any more. `count`: how many; nothing: nobody knows.
std::string lost_line(const std::string& cursor, std::optional<std::uint64_t> count);

}  // namespace cordon::wire
