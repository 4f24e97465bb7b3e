// SPDX-License-Identifier: Apache-2.0
// Any bytes as what the other side of a WebSocket sends: however they are cut they read the same, a
// message stays within its bound, text is UTF-8, and what was read is read again from frames of
// ours.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "http/websocket_frame.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace http = cordon::http;

constexpr std::size_t kMost = 300;

struct Read {
  std::vector<http::Message> messages;
  std::optional<http::Violation> violation;
  friend bool operator==(const Read&, const Read&) = default;
};

Read read(std::string_view bytes, std::size_t piece, http::Role role) {
  http::MessageReader reader{role, kMost};
  Read read;
  while (!bytes.empty()) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (!part.empty()) {
      auto step = reader.next(part);
      if (!step) {
        read.violation = step.error();
        return read;
      }
      if (!step->message && step->consumed != part.size()) broken("all is consumed, or a message");
      if (reader.held() > kMost + 125) broken("no more is held than the bound");
      part.remove_prefix(step->consumed);
      auto& message = step->message;
      if (!message) continue;
      read.messages.push_back(*std::move(message));
      if (read.messages.back().kind == http::Opcode::close) return read;
    }
  }
  return read;
}

void check(const http::Message& message) {
  using http::Opcode;
  const bool is_text = message.kind == Opcode::text || message.kind == Opcode::close;
  if (is_text && !cordon::is_utf8(message.data)) broken("text is UTF-8");
  if (message.data.size() > kMost) broken("a message stays within its bound");
  const bool is_control = static_cast<unsigned>(message.kind) >= 8;
  if (is_control && message.data.size() > 125) broken("a control frame is short");
  if (message.kind == Opcode::continuation) broken("fragments are joined");
}

// As frames of the other role, which reads what this one has read.
void write_again(const Read& was, http::Role role) {
  std::string frames;
  for (const auto& message : was.messages) {
    std::string payload = message.data;
    if (message.kind == http::Opcode::close) {
      payload = message.code == 1005
                    ? std::string{}
                    : http::close_payload(static_cast<http::CloseCode>(message.code), message.data);
    }
    std::optional<http::MaskKey> mask;
    if (role == http::Role::server) mask = {9, 8, 7, 6};
    http::append_frame(frames, message.kind, payload, mask);
  }
  const Read again = read(frames, frames.size(), role);
  if (again.violation || again.messages != was.messages) broken("what was written reads the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto role = (data[0] & 1U) != 0 ? http::Role::client : http::Role::server;
  const Read whole = read(bytes, bytes.size(), role);
  if (read(bytes, 1, role) != whole || read(bytes, std::size_t{2} + data[0] / 2, role) != whole)
    broken("a cut changes nothing");
  for (const auto& message : whole.messages) check(message);
  write_again(whole, role);
  return 0;
}
