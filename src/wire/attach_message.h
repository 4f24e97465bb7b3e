// SPDX-License-Identifier: Apache-2.0
// What goes over the WebSocket of a process, beside the lines of its output: what a client says,
// and frames of bytes. (pure)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/requests.h"

namespace cordon::wire {

// Of a message, both ways. A client's text of input has room for half of it and more.
inline constexpr std::size_t kLargestMessage = std::size_t{256} << 10U;
// Of input that a client may send ahead of what the process has taken, so that what it says behind
// that is still heard.
inline constexpr std::size_t kInputAhead = std::size_t{1} << 20U;

// Bytes before these are safe with the client.
struct AcknowledgeMessage {
  std::uint64_t out = 0;
  std::uint64_t err = 0;
  friend bool operator==(const AcknowledgeMessage&, const AcknowledgeMessage&) = default;
};
// Standard input; a binary message is the same.
struct InputMessage {
  std::string bytes;
  friend bool operator==(const InputMessage&, const InputMessage&) = default;
};
// Nothing follows on standard input.
struct EndMessage {
  friend bool operator==(const EndMessage&, const EndMessage&) = default;
};
// The terminal has another size.
struct ResizeMessage {
  TerminalSize size;
  friend bool operator==(const ResizeMessage&, const ResizeMessage&) = default;
};
using AttachMessage =
    std::variant<AcknowledgeMessage, InputMessage, EndMessage, ResizeMessage, SignalRequest>;

// JSON with a `type`, as strict as a request. `invalid`: what is wrong, in one line.
Result<AttachMessage> read_attach_message(std::string_view text);

// The JSON of a message, which reads as the same.
std::string to_json(const AttachMessage& message);

// How much of this connection's input was taken.
std::string input_event(std::uint64_t taken);
// What was not done; the connection goes on.
std::string error_event(const Error& error);

// Output as one binary message: the stream (0, or 1 for standard error), the offset of the first
// byte in 8 bytes, the most significant first, and the bytes.
struct OutputFrame {
  bool is_error = false;
  std::uint64_t offset = 0;
  std::string_view bytes;
  friend bool operator==(const OutputFrame&, const OutputFrame&) = default;
};
std::string to_bytes(const OutputFrame& frame);
// Points into `bytes`. `invalid`: it is none.
Result<OutputFrame> read_output_frame(std::string_view bytes);

}  // namespace cordon::wire
