// SPDX-License-Identifier: Apache-2.0
// Any bytes behind the question mark: what is read is within its bounds, has no character 0, and is
// read the same when it is written again with every byte as a percent sign.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "api/rest/call.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) all += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto query = cordon::api::read_query(text);
  if (!query) return 0;
  if (query->size() > 32) broken("a query has at most 32 names");
  std::string again;
  for (const auto& [name, value] : *query) {
    if (name.empty()) broken("a name is not empty");
    // As they stand they pass: whoever sends them is refused by the head's own rules.
    const bool came_plain = text.find('\0') != std::string_view::npos;
    const bool has_nul = (name + value).find('\0') != std::string::npos;
    if (has_nul && !came_plain) broken("no percent sign makes the character 0");
    if (has_nul) return 0;
    again += fmt::format("{}{}={}", again.empty() ? "" : "&", escaped(name), escaped(value));
  }
  const auto second = cordon::api::read_query(again);
  if (!second || *second != *query) broken("what was written reads the same");
  return 0;
}
