// SPDX-License-Identifier: Apache-2.0
// Two servers that forgive what they should not, each in its own way: a model of who stands behind
// a proxy. They share no code with the parser; only what both read alike is safe to send.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::http {

struct LenientMessage {
  std::string first_line;
  std::string body;

  friend bool operator==(const LenientMessage&, const LenientMessage&) = default;
};

// Which of the two a server believes when it finds both.
enum class Believes : bool { length, coding };

class LenientReader {
 public:
  LenientReader(std::string_view stream, Believes believes) : rest_{stream}, believes_{believes} {}

  // All messages; a last one that is cut short is among them with what there is of it.
  std::vector<LenientMessage> all() {
    std::vector<LenientMessage> messages;
    while (!rest_.empty()) {
      const std::string first{line()};
      if (first.empty()) continue;
      const auto fields = read_fields();
      messages.push_back({.first_line = first, .body = read_body(fields)});
    }
    return messages;
  }

 private:
  using LenientFields = std::multimap<std::string, std::string>;

  // Ends at LF; a CR before it, if there is one, is dropped.
  std::string_view line() {
    const auto end = std::min(rest_.find('\n'), rest_.size());
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    while (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

  static std::string squeezed(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (static_cast<unsigned char>(c) <= ' ') continue;
      out += c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(c & 0x7F));
    }
    return out;
  }

  LenientFields read_fields() {
    LenientFields fields;
    while (!rest_.empty()) {
      const auto text = line();
      if (text.empty()) break;
      const auto colon = std::min(text.find(':'), text.size());
      fields.emplace(squeezed(text.substr(0, colon)),
                     text.substr(std::min(colon + 1, text.size())));
    }
    return fields;
  }

  std::string take(std::uint64_t count) {
    const std::string_view data = rest_.substr(0, std::min<std::uint64_t>(count, rest_.size()));
    rest_.remove_prefix(data.size());
    return std::string{data};
  }

  std::string read_chunks() {
    std::string body;
    while (!rest_.empty()) {
      const auto size = std::strtoull(std::string{line()}.c_str(), nullptr, 16);
      if (size == 0) {
        while (!rest_.empty() && !line().empty()) {
        }
        break;
      }
      body += take(size);
      if (!rest_.empty()) line();
    }
    return body;
  }

  std::string read_body(const LenientFields& fields) {
    const auto length = fields.find("content-length");
    const bool chunked = std::ranges::any_of(fields, [](const auto& field) {
      return field.first == "transfer-encoding" &&
             squeezed(field.second).find("chunked") != std::string::npos;
    });
    const bool by_length = length != fields.end() && (believes_ == Believes::length || !chunked);
    if (by_length) return take(std::strtoull(length->second.c_str(), nullptr, 10));
    return chunked ? read_chunks() : "";
  }

  std::string_view rest_;
  Believes believes_;
};

inline std::vector<LenientMessage> read_leniently(std::string_view stream, Believes believes) {
  return LenientReader{stream, believes}.all();
}

}  // namespace cordon::http
