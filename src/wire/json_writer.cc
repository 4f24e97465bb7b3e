// SPDX-License-Identifier: Apache-2.0
#include "wire/json_writer.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/utf8.h"

namespace cordon::wire {
namespace {

// Whoever reads it back has every character again; what is no UTF-8 comes out escaped.
void append(std::string& out, std::string_view text) {
  if (!is_utf8(text)) return append_json_string(out, text);
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

void JsonWriter::separate() {
  if (!is_first_) text_ += ',';
  is_first_ = false;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  is_first_ = true;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  append(text_, name);
  text_ += ':';
  is_first_ = true;  // the value needs no comma
}

void JsonWriter::text(std::string_view name, std::string_view value) {
  key(name);
  text(value);
}

void JsonWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  key(name);
  begin_array();
  for (const std::string& each : values) text(each);
  end_array();
}

void JsonWriter::text(std::string_view value) {
  separate();
  append(text_, value);
}

void JsonWriter::number(std::string_view name, std::uint64_t value) {
  key(name);
  text_ += std::to_string(value);
  is_first_ = false;
}

void JsonWriter::number(std::string_view name, std::int64_t value) {
  key(name);
  text_ += std::to_string(value);
  is_first_ = false;
}

void JsonWriter::nothing(std::string_view name) {
  key(name);
  text_ += "null";
  is_first_ = false;
}

void JsonWriter::boolean(std::string_view name, bool value) {
  key(name);
  text_ += value ? "true" : "false";
  is_first_ = false;
}

void JsonWriter::bytes(std::string_view name, std::string_view value) {
  if (is_utf8(value)) {
    text(name, value);
  } else {
    text(std::string{name} + "_base64", to_base64(value));
  }
}

}  // namespace cordon::wire
