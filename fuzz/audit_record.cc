// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of the audit log, of its segments and of its heads: refused, or exactly what
// the writer writes.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "audit/head.h"
#include "audit/record.h"
#include "audit/segment.h"
#include "audit/tail.h"
#include "base/bytes.h"
#include "promise.h"

namespace audit = cordon::audit;
using cordon::fuzz::broken;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const std::string_view line = cordon::as_text(bytes);
  if (const auto record = audit::decode(line)) {
    if (audit::encode(*record) != line) broken("a record has one spelling");
    const auto link = audit::link_of(line);
    if (!link || link->number != record->number || link->before != record->before) {
      broken("the place of a record is read the same by all");
    }
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < 0x20) broken("a record is one line");
    }
  }
  if (const auto head = audit::decode_segment_head(line)) {
    if (audit::encode(*head) != line) broken("the head of a segment has one spelling");
  }
  if (const auto head = audit::decode_head(line)) {
    if (audit::encode(*head) != line) broken("a signed head has one spelling");
  }
  constexpr audit::BootId kBoot{};
  if (const auto end = audit::decode_end(bytes, kBoot)) {
    const auto written = audit::encode(*end, kBoot);
    const auto again = audit::decode_end(written, kBoot);
    if (!again || *again != *end) broken("the end of a log is read as it was written");
  }
  return 0;
}
