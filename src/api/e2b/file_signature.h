// SPDX-License-Identifier: Apache-2.0
// What a URL bears that lets its holder read or write one file of a sandbox, without any token.
// (pure)
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::api::e2b {

enum class FileUse : std::uint8_t { read, write };

// As they stand in the URL, resolved and no more: both sides sign the same letters.
struct SignedFile {
  std::string path;  // empty: none was given
  std::string user;  // the same
  FileUse use = FileUse::read;
  std::optional<std::int64_t> expires;  // seconds since 1970
};

// `token`: of the sandbox, which alone knows it beside the one who signs.
std::string signature_of(const SignedFile& file, std::string_view token);

// Whether `signature` is that, and its time is not over; takes as long whichever letter differs.
bool is_signed(const SignedFile& file, std::string_view token, std::string_view signature,
               std::chrono::sys_seconds now);

}  // namespace cordon::api::e2b
