// SPDX-License-Identifier: Apache-2.0
// Any sentinel, in any form, behind any bytes and cut anywhere, is found; and what is found in a
// stream does not depend on how it is cut.
#include "egress/secret_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "promise.h"

namespace {

using cordon::as_bytes;
using cordon::fuzz::broken;
using namespace cordon::egress;

// Takes bytes from the front of the input; zeros when there are none left.
class Source {
 public:
  explicit Source(std::span<const std::uint8_t> bytes) : rest_{bytes} {}
  unsigned byte() {
    if (rest_.empty()) return 0;
    const unsigned b = rest_.front();
    rest_ = rest_.subspan(1);
    return b;
  }
  std::string bytes(std::size_t count) {
    const auto taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }
  std::string rest() { return bytes(rest_.size()); }

 private:
  std::span<const std::uint8_t> rest_;
};

std::string hex(unsigned byte, bool capital) {
  const std::string_view digits = capital ? "0123456789ABCDEF" : "0123456789abcdef";
  return {digits[byte >> 4U], digits[byte & 15U]};
}

std::string base64(std::string_view bytes, bool url) {
  const std::string_view alphabet =
      url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
          : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) text += alphabet[(bits >> (held - 6)) & 63U];
  }
  if (held > 0) text += alphabet[(bits << (6 - held)) & 63U];
  return text;
}

// One spelling of one byte; which one, the source says.
std::string escaped(unsigned byte, bool json, Source& source) {
  const unsigned choice = source.byte();
  const auto c = static_cast<char>(byte);
  if (!json) {
    const bool plain = choice % 3 == 0 && c != '%';
    return plain ? std::string{c} : "%" + hex(byte, choice % 2 == 0);
  }
  if (byte >= 0x80) return {c};  // JSON escapes name characters, not bytes
  if (choice % 3 == 0 && c == '/') return "\\/";
  if (choice % 3 == 0 && c != '\\' && c != '"') return {c};
  return "\\u00" + hex(byte, choice % 2 == 0);
}

std::string encoded(const std::string& sentinel, Source& source) {
  const unsigned form = source.byte() % 6;
  std::string text;
  switch (form) {
    case 0:
      return sentinel;
    case 1: {
      const unsigned choice = source.byte();
      text = base64(std::string(choice % 3, 'q') + sentinel + source.bytes(choice % 5),
                    choice % 2 == 0);
      const std::size_t line = 1 + source.byte() % 80;
      for (std::size_t at = line; at < text.size(); at += line + 1) text.insert(at, "\n");
      return text;
    }
    case 2: {
      const bool capital = source.byte() % 2 == 0;
      for (const char c : sentinel) text += hex(static_cast<unsigned char>(c), capital);
      return text;
    }
    case 3:
    case 4:
      for (const char c : sentinel)
        text += escaped(static_cast<unsigned char>(c), form == 4, source);
      return text;
    default: {
      std::string inner;
      for (const char c : sentinel) inner += escaped(static_cast<unsigned char>(c), true, source);
      for (const char c : inner)
        text += "%" + hex(static_cast<unsigned char>(c), source.byte() % 2 == 0);
      return text;
    }
  }
}

std::optional<Finding> scan(std::string_view text, std::size_t piece, SecretScan::Keys keys,
                            std::span<const SentinelSet* const> sets) {
  SecretScan whole{keys, sets};
  for (std::size_t at = 0; at < text.size(); at += piece) {
    whole.push(as_bytes(text.substr(at, piece)));
    if (whole.withheld() > SecretScan::kMostWithheld || whole.withheld() > at + piece) {
      broken("no more is withheld than was read, nor than the bound");
    }
  }
  return whole.finding();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source source{std::span{data, size}};
  std::string sentinel = source.bytes(8 + source.byte() % 80);
  if (sentinel.size() < SentinelSet::kShortest) return 0;
  const Sentinel one{"one", as_bytes(sentinel)};
  const SentinelSet set{std::span{&one, 1}};
  const std::array<const SentinelSet*, 2> sets{&any_placeholder(), &set};

  const std::size_t piece = 1 + source.byte() % 40;
  const std::string form = encoded(sentinel, source);
  const std::string noise = source.rest();
  // A quotation mark ends whatever escape the noise had begun.
  const std::string text = noise + "\"" + form + "\"";
  const std::array<const SentinelSet*, 1> only{&set};
  if (!scan(text, text.size() + 1, SecretScan::Keys::ignore, only)) {
    broken("a sentinel is found in every form");
  }
  if (!scan(text, piece, SecretScan::Keys::ignore, only)) broken("and however it is cut");
  if (scan(noise, noise.size() + 1, SecretScan::Keys::find, sets) !=
      scan(noise, piece, SecretScan::Keys::find, sets)) {
    broken("a finding does not depend on the cuts");
  }
  return 0;
}
