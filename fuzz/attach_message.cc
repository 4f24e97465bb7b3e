// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a client says over the WebSocket of a process: what is understood is within its
// bounds, and is read the same from what we would write of it. As a frame of output it is written
// again byte for byte.
#include "wire/attach_message.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace wire = cordon::wire;

void check(const wire::AttachMessage& message) {
  if (const auto* resize = std::get_if<wire::ResizeMessage>(&message)) {
    const auto& [rows, columns] = resize->size;
    if (rows < 1 || rows > wire::kMostTerminalSide || columns < 1 ||
        columns > wire::kMostTerminalSide)
      broken("a terminal has a size");
  }
  if (const auto* signal = std::get_if<cordon::wire::SignalRequest>(&message)) {
    if (signal->number < 1 || signal->number > 64) broken("a signal is one");
  }
  if (const auto* safe = std::get_if<wire::AcknowledgeMessage>(&message)) {
    if (safe->out > INT64_MAX || safe->err > INT64_MAX) broken("an offset is one");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (const auto message = wire::read_attach_message(bytes)) {
    check(*message);
    const auto again = wire::read_attach_message(wire::to_json(*message));
    if (!again || *again != *message) broken("what was written reads the same");
  }
  if (const auto frame = wire::read_output_frame(bytes)) {
    if (wire::to_bytes(*frame) != bytes) broken("a frame is written as it was");
  }
  return 0;
}
