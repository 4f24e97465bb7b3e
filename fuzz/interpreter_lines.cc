// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a supervisor of code writes: what is understood does not depend on the pieces
// in which they came.
#include "api/e2b/interpreter_lines.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "promise.h"

namespace {

using cordon::api::e2b::InterpreterLines;
using cordon::fuzz::broken;

std::vector<std::string> read(std::string_view bytes, std::size_t piece) {
  InterpreterLines lines;
  std::vector<std::string> all;
  bool is_open = false;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    lines.push(bytes.substr(at, piece));
    while (const auto part = lines.next()) {
      if (part->text.find('\n') != std::string_view::npos) broken("a line has one end");
      const std::string head =
          std::to_string(part->number) + ' ' + std::to_string(static_cast<int>(part->kind)) + ' ';
      if (!is_open) all.push_back(head);
      if (!all.back().starts_with(head)) broken("a line is one request's");
      all.back() += part->text;
      is_open = !part->ends_the_line;
    }
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data),
                               size};  // NOLINT: libFuzzer's bytes
  const auto whole = read(bytes, bytes.size() + 1);
  if (read(bytes, 1) != whole || read(bytes, 7) != whole)
    broken("pieces change what is understood");
  return 0;
}
