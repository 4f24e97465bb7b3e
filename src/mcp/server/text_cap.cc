// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/text_cap.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"

namespace cordon::mcp::server {
namespace {

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

}  // namespace

std::string as_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string{bytes};
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = first_character(bytes).length;
    text += length == 0 ? std::string_view{"\xEF\xBF\xBD"} : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string_view whole_characters(std::string_view text, std::size_t at, std::size_t most) {
  at = std::min(at, text.size());
  while (at < text.size() && is_inside_character(text[at])) ++at;
  std::size_t end = std::min(text.size(), at + most);
  while (end > at && end < text.size() && is_inside_character(text[end])) --end;
  return text.substr(at, end - at);
}

Cut head_and_tail(std::string_view text, std::size_t most, std::string_view more) {
  if (text.size() <= most) return {.text = std::string{text}};
  const std::string_view head = whole_characters(text, 0, most / 2);
  const std::string_view tail = whole_characters(text, text.size() - most / 2, most / 2);
  const std::size_t between = text.size() - head.size() - tail.size();
  const std::string note = more.empty() ? fmt::format("\n… {} more bytes …\n", between)
                                        : fmt::format("\n… {} more bytes: {} …\n", between, more);
  return {.text = std::string{head} + note + std::string{tail}, .is_cut = true};
}

void KeptStream::add(std::string_view bytes) {
  size_ += bytes.size();
  const std::size_t room = half_ - std::min(half_, head_.size());
  head_ += bytes.substr(0, room);
  bytes.remove_prefix(std::min(room, bytes.size()));
  tail_ += bytes;
  // Seldom, so that it costs little for each byte.
  if (tail_.size() > half_ * 2) tail_.erase(0, tail_.size() - half_);
}

std::string KeptStream::text() const {
  const std::size_t kept = std::min(half_, tail_.size());
  const std::uint64_t missing = size_ - head_.size() - kept;
  std::string text = head_;
  if (missing > 0) text += fmt::format("\n… {} bytes are not kept …\n", missing);
  text += std::string_view{tail_}.substr(tail_.size() - kept);
  return text;
}

void RecentStream::add(std::string_view bytes) {
  held_ += bytes;
  if (held_.size() <= most_ * 2) return;
  const std::size_t gone = held_.size() - most_;
  held_.erase(0, gone);
  begin_ += gone;
}

std::string_view RecentStream::from(std::uint64_t at) const {
  const std::uint64_t from = std::clamp(at, begin(), end());
  return std::string_view{held_}.substr(static_cast<std::size_t>(from - begin_));
}

}  // namespace cordon::mcp::server
