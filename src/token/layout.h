// SPDX-License-Identifier: Apache-2.0
// Where the parts of a token lie. Only lengths are looked at here: what a caveat says is read once
// the tag is known to be right.
//
//   cdn1_ base64url(
//     version u8 = 1 | flags u8 | key number u8 | audience u8 length, bytes | id 16     the header
//     caveats u8 count, each: u16 length, bytes
//     tag 32 )
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "token/mac.h"

namespace cordon::token {

inline constexpr std::string_view kTokenPrefix = "cdn1_";
inline constexpr std::size_t kLongestToken = 8192;
inline constexpr std::size_t kMostCaveats = 32;
inline constexpr std::size_t kIdSize = 16;

struct Header {
  bool is_operator = false;
  std::uint8_t key_number = 0;
  std::string_view audience;  // is_name(audience, kLongestAudience)
  std::span<const std::byte, kIdSize> id;
};

// All of them are views of the bytes that were read.
struct Layout {
  Bytes header_bytes;
  Header header;
  std::array<Bytes, kMostCaveats> slots;
  std::size_t count = 0;
  std::span<const std::byte, kDigestSize> tag;

  std::span<const Bytes> caveats() const noexcept { return std::span{slots}.first(count); }
};

// The bytes of a token's text.
Result<WipedBytes> token_bytes(std::string_view text);

// `invalid` for all that write_token() would not write, but for what is in caveats and tag.
Result<Layout> read_layout(Bytes bytes);

std::vector<std::byte> write_header(const Header& header);

// Before: the header is of write_header(), at most kMostCaveats, none longer than a u16 tells.
// `exhausted`: it would be longer than kLongestToken.
Result<std::string> write_token(Bytes header, std::span<const Bytes> caveats, const Secret& tag);

}  // namespace cordon::token
