// SPDX-License-Identifier: Apache-2.0
#include "http/websocket_frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8.h"

namespace cordon::http {
namespace {

constexpr std::size_t kMostControl = 125;
constexpr unsigned char kMasked = 0x80;
constexpr unsigned char kLengthBits = 0x7F;
constexpr unsigned char kTwoBytes = 126;
constexpr unsigned char kEightBytes = 127;

// `at`: how much of the payload came before.
void mask(char* bytes, std::size_t size, const MaskKey& key, std::uint64_t at) {
  std::array<unsigned char, 8> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = key[(at + i) % key.size()];
  std::uint64_t word = 0;
  std::memcpy(&word, pattern.data(), sizeof word);
  std::size_t done = 0;
  for (; size - done >= sizeof word; done += sizeof word) {
    std::uint64_t part = 0;
    std::memcpy(&part, bytes + done, sizeof part);
    part ^= word;
    std::memcpy(bytes + done, &part, sizeof part);
  }
  for (; done < size; ++done)
    bytes[done] = static_cast<char>(static_cast<unsigned char>(bytes[done]) ^ pattern[done % 8]);
}

void append_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    out += static_cast<char>(number >> (8U * static_cast<unsigned>(i)));
}

bool is_known(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::continuation:
    case Opcode::text:
    case Opcode::binary:
    case Opcode::close:
    case Opcode::ping:
    case Opcode::pong:
      return true;
  }
  return false;
}

// Codes that may be sent; others are for what was not told, or belong to nobody.
bool is_close_code(unsigned code) noexcept {
  if (code >= 3000 && code <= 4999) return true;
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
}

std::unexpected<Violation> wrong(std::string_view why, CloseCode code = CloseCode::protocol_error) {
  return std::unexpected{Violation{.code = code, .why = why}};
}

}  // namespace

void append_frame(std::string& out, Opcode opcode, std::string_view payload,
                  const std::optional<MaskKey>& key, bool is_last) {
  const unsigned char masked = key ? kMasked : 0;
  out.reserve(out.size() + payload.size() + 14);
  out += static_cast<char>((is_last ? 0x80U : 0U) | static_cast<unsigned>(opcode));
  if (payload.size() < kTwoBytes) {
    out += static_cast<char>(masked | payload.size());
  } else if (payload.size() <= 0xFFFF) {
    out += static_cast<char>(masked | kTwoBytes);
    append_number(out, payload.size(), 2);
  } else {
    out += static_cast<char>(masked | kEightBytes);
    append_number(out, payload.size(), 8);
  }
  if (key) out.append(reinterpret_cast<const char*>(key->data()), key->size());
  const std::size_t begin = out.size();
  out.append(payload);
  if (key) mask(out.data() + begin, payload.size(), *key, 0);
}

std::string close_payload(CloseCode code, std::string_view reason) {
  std::string payload;
  append_number(payload, static_cast<std::uint16_t>(code), 2);
  std::size_t size = std::min(reason.size(), kMostControl - payload.size());
  while (size > 0 && !is_utf8(reason.substr(0, size))) --size;
  return payload.append(reason.substr(0, size));
}

std::size_t MessageReader::head_size() const noexcept {
  if (head_used_ < 2) return 2;
  const unsigned length = head_[1] & kLengthBits;
  const std::size_t more = length == kTwoBytes ? 2 : (length == kEightBytes ? 8 : 0);
  return 2 + more + ((head_[1] & kMasked) != 0 ? mask_.size() : 0);
}

MessageReader::Checked MessageReader::check_first() {
  if ((head_[0] & 0x70U) != 0) return wrong("a reserved bit is set");
  if (!is_known(opcode())) return wrong("an opcode that nobody knows");
  const bool is_masked = (head_[1] & kMasked) != 0;
  if (role_ == Role::server && !is_masked) return wrong("a client masks its frames");
  if (role_ == Role::client && is_masked) return wrong("a server masks no frame");
  if (is_control()) {
    if (!is_last()) return wrong("a control frame is not cut");
    if ((head_[1] & kLengthBits) > kMostControl) return wrong("a control frame is short");
    return {};
  }
  if (opcode() == Opcode::continuation && !kind_) return wrong("nothing to continue");
  if (opcode() != Opcode::continuation && kind_) return wrong("the last message is not whole");
  return {};
}

MessageReader::Checked MessageReader::check_length() {
  const unsigned told = head_[1] & kLengthBits;
  std::size_t at = 2;
  length_ = told;
  if (told >= kTwoBytes) {
    const std::size_t size = told == kTwoBytes ? 2 : 8;
    length_ = 0;
    for (std::size_t i = 0; i < size; ++i) length_ = length_ << 8U | head_[at++];
    const bool is_minimal = length_ > (told == kTwoBytes ? kMostControl : 0xFFFFU);
    if (!is_minimal) return wrong("a length is written as short as it can be");
    if (length_ >> 63U != 0) return wrong("a length has 63 bits");
  }
  if ((head_[1] & kMasked) != 0) std::copy_n(head_.begin() + at, mask_.size(), mask_.begin());
  if (!is_control() && length_ > most_ - data_.size())
    return wrong("the message is too long", CloseCode::too_big);
  at_ = 0;
  is_in_payload_ = true;
  return {};
}

void MessageReader::take_payload(std::string_view bytes) {
  std::string& to = is_control() ? control_ : data_;
  const std::size_t begin = to.size();
  to.append(bytes);
  if (role_ == Role::server) mask(to.data() + begin, bytes.size(), mask_, at_);
  at_ += bytes.size();
}

MessageReader::Ended MessageReader::end_close() {
  Message told{.kind = Opcode::close, .data = {}, .code = 1005};
  const std::string payload = std::exchange(control_, {});
  if (payload.empty()) return told;
  if (payload.size() < 2) return wrong("a close has a code of two bytes, or none");
  const unsigned code = static_cast<unsigned>(static_cast<unsigned char>(payload[0])) << 8U |
                        static_cast<unsigned char>(payload[1]);
  if (!is_close_code(code)) return wrong("a code that closes nothing");
  told.code = static_cast<std::uint16_t>(code);
  told.data = payload.substr(2);
  if (!is_utf8(told.data)) return wrong("a reason is UTF-8", CloseCode::bad_text);
  return told;
}

MessageReader::Ended MessageReader::end_frame() {
  is_in_payload_ = false;
  head_used_ = 0;
  if (opcode() == Opcode::close) return end_close();
  if (is_control())
    return Message{.kind = opcode(), .data = std::exchange(control_, {}), .code = 0};
  if (opcode() != Opcode::continuation) kind_ = opcode();
  if (!is_last()) return std::nullopt;
  Message whole{
      .kind = kind_.value_or(Opcode::binary), .data = std::exchange(data_, {}), .code = 0};
  kind_.reset();
  if (whole.kind == Opcode::text && !is_utf8(whole.data))
    return wrong("a text is UTF-8", CloseCode::bad_text);
  return whole;
}

std::expected<MessageReader::Step, Violation> MessageReader::next(std::string_view bytes) {
  Step step;
  for (;;) {
    if (is_in_payload_) {
      const auto size = static_cast<std::size_t>(
          std::min<std::uint64_t>(length_ - at_, bytes.size() - step.consumed));
      take_payload(bytes.substr(step.consumed, size));
      step.consumed += size;
      if (at_ < length_) return step;
      auto ended = end_frame();
      if (!ended) return std::unexpected{ended.error()};
      step.message = *std::move(ended);
      if (step.message) return step;
    }
    if (step.consumed == bytes.size()) return step;
    head_[head_used_++] = static_cast<unsigned char>(bytes[step.consumed++]);
    Checked checked;
    if (head_used_ == 2) checked = check_first();
    if (checked && head_used_ >= 2 && head_used_ == head_size()) checked = check_length();
    if (!checked) return std::unexpected{checked.error()};
  }
}

}  // namespace cordon::http
