// SPDX-License-Identifier: Apache-2.0
#include "guest/oom_kills.h"

#include <charconv>
#include <string_view>

#include "os/file.h"

namespace cordon::guest {

std::uint64_t oom_kills() {
  constexpr std::string_view kLine = "\noom_kill ";
  const auto text = os::read_file(os::at_cwd(), "/proc/vmstat");
  const std::size_t at = text ? text->find(kLine) : std::string::npos;
  if (at == std::string::npos) return 0;
  std::uint64_t count = 0;
  std::from_chars(text->data() + at + kLine.size(), text->data() + text->size(), count);
  return count;
}

}  // namespace cordon::guest
