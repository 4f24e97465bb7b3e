// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

namespace cordon {
namespace {

void append(std::string& text, long long number, std::size_t width, char end) {
  const std::string digits = std::to_string(number);
  text.append(digits.size() < width ? width - digits.size() : 0, '0').append(digits).push_back(end);
}

}  // namespace

std::string to_text(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::string text;
  append(text, static_cast<int>(date.year()), 4, '-');
  append(text, static_cast<unsigned>(date.month()), 2, '-');
  append(text, static_cast<unsigned>(date.day()), 2, 'T');
  append(text, clock.hours().count(), 2, ':');
  append(text, clock.minutes().count(), 2, ':');
  append(text, clock.seconds().count(), 2, '.');
  append(text, clock.subseconds().count(), 3, 'Z');
  return text;
}

}  // namespace cordon
