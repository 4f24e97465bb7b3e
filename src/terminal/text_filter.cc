// SPDX-License-Identifier: Apache-2.0
#include "terminal/text_filter.h"

#include <cstddef>

#include <fmt/format.h>

#include "terminal/parameters.h"

namespace cordon::terminal {
namespace {

constexpr std::size_t kMostSgr = 128;

bool is_plain_byte(unsigned char byte) noexcept { return byte >= 0x20 && byte < 0x7F; }

void append_byte(std::string& out, unsigned char byte) { out += fmt::format("\\x{:02x}", byte); }

void append_character(std::string& out, char32_t code, std::string_view bytes) {
  if (is_deceptive(code))
    out += fmt::format("<U+{:04X}>", static_cast<unsigned>(code));
  else
    out += bytes;
}

// Whether it asks for text that is there but not seen. 8 is also a colour's number: 38;5;8.
bool conceals(std::string_view parameters) noexcept {
  while (!parameters.empty()) {
    const std::string_view one = take_parameter(parameters);
    const int value = number_or(one, 0);
    if (value == 8) return true;
    if (one.find(':') != std::string_view::npos || (value != 38 && value != 48 && value != 58))
      continue;
    const int space = number_or(take_parameter(parameters), 0);
    for (int skip = space == 5 ? 1 : space == 2 ? 3 : 0; skip > 0; --skip)
      take_parameter(parameters);
  }
  return false;
}

}  // namespace

void TextFilter::feed(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) push(static_cast<unsigned char>(byte), out);
}

void TextFilter::show_held(std::string& out) {
  for (const char byte : held_) {
    if (is_plain_byte(static_cast<unsigned char>(byte)))
      out += byte;
    else
      append_byte(out, static_cast<unsigned char>(byte));
  }
  held_.clear();
}

// Whether `byte` is done with; if not, it stands for itself.
bool TextFilter::push_sgr(unsigned char byte, std::string& out) {
  if (held_ == "\r") {
    if (byte == '\n') held_.clear();
  } else if (held_ == "\x1b") {
    if (byte == '[') {
      held_ += '[';
      return true;
    }
  } else if (byte == 'm' && !conceals(std::string_view{held_}.substr(2))) {
    const std::string_view parameters = std::string_view{held_}.substr(2);
    coloured_ = !parameters.empty() && parameters != "0";
    out += held_ + 'm';
    held_.clear();
    return true;
  } else if (((byte >= '0' && byte <= '9') || byte == ';' || byte == ':') &&
             held_.size() < kMostSgr) {
    held_ += static_cast<char>(byte);
    return true;
  }
  show_held(out);
  return false;
}

bool TextFilter::push_utf8(unsigned char byte, std::string& out) {
  const Utf8::Step step = utf8_.push(byte);
  if (step == Utf8::Step::more) return true;
  if (step == Utf8::Step::character) {
    append_character(out, utf8_.code(), utf8_.bytes());
    return true;
  }
  for (const char wrong : utf8_.bytes()) append_byte(out, static_cast<unsigned char>(wrong));
  return step == Utf8::Step::invalid;
}

void TextFilter::push(unsigned char byte, std::string& out) {
  if (utf8_.holds_bytes() && push_utf8(byte, out)) return;
  if (!held_.empty() && push_sgr(byte, out)) return;
  if (is_plain_byte(byte) || byte == '\n' || byte == '\t') {
    out += static_cast<char>(byte);
  } else if (byte == '\r' || byte == 0x1B) {
    held_.assign(1, static_cast<char>(byte));
  } else if (byte >= 0x80) {
    push_utf8(byte, out);
  } else {
    append_byte(out, byte);
  }
}

void TextFilter::finish(std::string& out) {
  show_held(out);
  if (utf8_.holds_bytes()) {
    for (const char byte : utf8_.bytes()) append_byte(out, static_cast<unsigned char>(byte));
    utf8_.reset();
  }
  if (coloured_) out += "\x1b[0m";
  coloured_ = false;
}

std::string printable(std::string_view text) {
  std::string shown;
  TextFilter filter;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // A byte below 0x20 is never part of a character, so what the filter holds ends here.
    if (byte < 0x20 || byte == 0x7F) {
      filter.finish(shown);
      append_byte(shown, byte);
    } else {
      filter.feed({&c, 1}, shown);
    }
  }
  filter.finish(shown);
  return shown;
}

}  // namespace cordon::terminal
