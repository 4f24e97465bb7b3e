// SPDX-License-Identifier: Apache-2.0
// WebSocket (RFC 6455) as bytes: frames written, and messages read strictly, with no I/O.
//
// No extension is spoken: reserved bits are refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::http {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

// Codes of a close frame that we send.
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  not_taken = 1003,  // a kind of message
  bad_text = 1007,
  refused = 1008,  // by a rule
  too_big = 1009,
  internal = 1011,
};

using MaskKey = std::array<unsigned char, 4>;

// Clients mask, with a key that nobody foresees; servers do not. Before: the payload of a control
// frame has at most 125 bytes, and the frame is the last.
void append_frame(std::string& out, Opcode opcode, std::string_view payload,
                  const std::optional<MaskKey>& mask = {}, bool is_last = true);

// The payload of a close frame; of the reason what fits, cut between characters.
std::string close_payload(CloseCode code, std::string_view reason);

struct Message {
  Opcode kind = Opcode::text;  // never `continuation`: fragments are joined
  std::string data{};          // of `text` UTF-8; of `close` the reason
  std::uint16_t code = 0;      // of `close`; 1005: none was told

  friend bool operator==(const Message&, const Message&) = default;
};

// What the other side did wrong, and the code by which it is told.
struct Violation {
  CloseCode code = CloseCode::protocol_error;
  std::string_view why;

  friend bool operator==(const Violation&, const Violation&) = default;
};

enum class Role : bool { server, client };

// Reads what the other side sends; the same however the bytes are cut.
class MessageReader {
 public:
  // `most`: bytes of a message, all its fragments together. A server refuses frames without a mask,
  // a client those with one.
  MessageReader(Role role, std::size_t most) noexcept : role_{role}, most_{most} {}

  struct Step {
    std::size_t consumed = 0;        // all, unless a message is whole: then up to its end
    std::optional<Message> message;  // control frames come between the fragments of others
  };
  // Before: no call gave a violation, nor a close.
  std::expected<Step, Violation> next(std::string_view bytes);

  // Bytes that are held of a message which is not whole.
  std::size_t held() const noexcept { return data_.size() + control_.size(); }

 private:
  using Checked = std::expected<void, Violation>;
  using Ended = std::expected<std::optional<Message>, Violation>;

  std::size_t head_size() const noexcept;
  Checked check_first();
  Checked check_length();
  void take_payload(std::string_view bytes);
  Ended end_frame();
  Ended end_close();
  bool is_control() const noexcept { return (head_[0] & 0x08U) != 0; }
  bool is_last() const noexcept { return (head_[0] & 0x80U) != 0; }
  Opcode opcode() const noexcept { return static_cast<Opcode>(head_[0] & 0x0FU); }

  Role role_;
  std::size_t most_;
  std::array<unsigned char, 14> head_{};
  std::size_t head_used_ = 0;
  bool is_in_payload_ = false;
  std::uint64_t length_ = 0;  // of the frame
  std::uint64_t at_ = 0;      // in its payload
  MaskKey mask_{};
  std::string data_;  // of a message so far
  std::string control_;
  std::optional<Opcode> kind_;  // of the message that is being read
};

}  // namespace cordon::http
