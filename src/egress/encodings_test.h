// SPDX-License-Identifier: Apache-2.0
// The forms in which a secret may try to get by, written by code that shares nothing with the scan.
#pragma once

#include <openssl/evp.h>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace cordon::egress {

inline std::string base64_text(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

inline std::string url_alphabet(std::string text) {
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (text.ends_with('=')) text.pop_back();
  return text;
}

inline std::string each(std::string_view bytes, auto format) {
  std::string text;
  for (const char c : bytes) text += format(static_cast<unsigned char>(c));
  return text;
}

struct Encoded {
  std::string how;
  std::string text;
};

// All forms of `secret`; `dice` chooses where several spellings are possible.
inline std::vector<Encoded> all_encodings(std::string_view secret, std::mt19937& dice) {
  std::vector<Encoded> all{{"plain", std::string{secret}}};
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string in = std::string(before, 'q') + std::string{secret} + "tail";
    const std::string text = base64_text(in);
    all.push_back({fmt::format("base64, {} before", before), text});
    all.push_back({fmt::format("base64url, {} before", before), url_alphabet(text)});
    std::string lines;
    for (std::size_t i = 0; i < text.size(); i += 16) lines += text.substr(i, 16) + "\r\n";
    all.push_back({fmt::format("base64 in lines, {} before", before), lines});
    std::string in_json;
    for (const char c : text) in_json += c == '/' ? std::string{"\\/"} : std::string{c};
    all.push_back({"base64 in JSON", in_json});
    all.push_back({"base64 in a URL", each(text, [](unsigned char c) {
                     return std::isalnum(c) != 0 ? std::string{static_cast<char>(c)}
                                                 : fmt::format("%{:02x}", c);
                   })});
    all.push_back({"base64 alone", base64_text(std::string(before, 'q') + std::string{secret})});
  }
  all.push_back({"hex", each(secret, [](unsigned c) { return fmt::format("{:02x}", c); })});
  all.push_back({"HEX", each(secret, [](unsigned c) { return fmt::format("{:02X}", c); })});
  all.push_back({"url", each(secret, [](unsigned c) { return fmt::format("%{:02x}", c); })});
  all.push_back({"URL", each(secret, [](unsigned c) { return fmt::format("%{:02X}", c); })});
  all.push_back({"JSON", each(secret, [](unsigned c) { return fmt::format("\\u{:04x}", c); })});
  all.push_back(
      {"JSON in capitals", each(secret, [](unsigned c) { return fmt::format("\\u{:04X}", c); })});
  all.push_back({"mixed url", each(secret, [&](unsigned c) {
                   return dice() % 2 == 0 && c != '%' ? std::string{static_cast<char>(c)}
                                                      : fmt::format("%{:02x}", c);
                 })});
  all.push_back({"mixed JSON", each(secret, [&](unsigned c) {
                   if (c == '\\' || c == '"') return std::string{"\\"} + static_cast<char>(c);
                   if (c == '/' && dice() % 2 == 0) return std::string{"\\/"};
                   return dice() % 2 == 0 ? std::string{static_cast<char>(c)}
                                          : fmt::format("\\u{:04x}", c);
                 })});
  all.push_back(
      {"JSON in a URL", each(each(secret, [](unsigned c) { return fmt::format("\\u{:04x}", c); }),
                             [](unsigned c) { return fmt::format("%{:02X}", c); })});
  return all;
}

}  // namespace cordon::egress
