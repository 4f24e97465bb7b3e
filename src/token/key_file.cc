// SPDX-License-Identifier: Apache-2.0
#include "token/key_file.h"

#include <charconv>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace cordon::token {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kRoot = "cordon root key ";
constexpr std::string_view kAudience = "cordon audience key ";

void add(WipedBytes& to, std::string_view text) {
  const auto bytes = as_bytes(text);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void add_secret(WipedBytes& to, const Secret& secret) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const std::byte byte : secret.bytes()) {
    to.push_back(static_cast<std::byte>(kHex[std::to_integer<unsigned>(byte) >> 4U]));
    to.push_back(static_cast<std::byte>(kHex[std::to_integer<unsigned>(byte) & 15U]));
  }
  add(to, "\n");
}

Error no_key() { return Error{Errc::invalid, "it is not a key of `cordon token key`"}; }

Result<Secret> secret_of(std::string_view hex) {
  Digest bytes{};
  const bool is_hex = from_hex(hex, bytes);
  Secret secret{bytes};
  wipe(bytes);
  if (!is_hex) return no_key();
  return secret;
}

// The word before the next space; `rest` goes behind it.
std::string_view word(std::string_view& rest) {
  const std::string_view taken = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), taken.size() + 1));
  return taken;
}

Result<std::uint8_t> number_of(std::string_view text) {
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_one = error == std::errc{} && end == text.data() + text.size();
  if (!is_one || std::to_string(number) != text) return no_key();
  return number;
}

}  // namespace

WipedBytes key_file_text(const RootKey& key) {
  WipedBytes text;
  add(text, kRoot);
  add(text, std::to_string(key.number()) + ' ');
  add_secret(text, key.secret());
  return text;
}

WipedBytes key_file_text(const AudienceKey& key) {
  WipedBytes text;
  add(text, kAudience);
  add(text, std::to_string(key.number()) + ' ' + key.audience() + ' ');
  add_secret(text, key.secret());
  return text;
}

Result<AnyKey> parse_key_file(std::span<const std::byte> bytes) {
  std::string_view text = as_text(bytes);
  if (text.size() > kLongestKeyFile || !text.ends_with('\n')) return no_key();
  text.remove_suffix(1);
  if (text.starts_with(kRoot)) {
    text.remove_prefix(kRoot.size());
    TRY(const std::uint8_t number, number_of(word(text)));
    TRY(Secret secret, secret_of(text));
    return AnyKey{RootKey{std::move(secret), number}};
  }
  if (!text.starts_with(kAudience)) return no_key();
  text.remove_prefix(kAudience.size());
  TRY(const std::uint8_t number, number_of(word(text)));
  const std::string audience{word(text)};
  if (!is_name(audience, kLongestAudience)) return no_key();
  TRY(Secret secret, secret_of(text));
  return AnyKey{AudienceKey{audience, number, std::move(secret)}};
}

}  // namespace cordon::token
