// SPDX-License-Identifier: Apache-2.0
// The JSON that records are written in: one spelling for each value. No white space, keys in a
// fixed order, whole numbers only, and every byte of a text either as itself or escaped, never as
// the writer likes. What is read is held against it: a text that could have been written otherwise
// is refused.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::audit {

// With its quotes. Quotes, backslashes, newlines and tabs as JSON has them; controls, bytes that
// are no UTF-8, and each byte of a character that deceives a reader's eye as \u00XX.
void append_canonical(std::string& out, std::string_view text);

// Takes from the front of a line. After the first thing that is not as it must be, nothing more is
// taken, and `failed`.
class CanonicalReader {
 public:
  explicit CanonicalReader(std::string_view line) noexcept : rest_{line} {}

  // True where `literal` stood there, and was taken. No failure where not.
  bool take(std::string_view literal) noexcept;
  void expect(std::string_view literal) noexcept;
  std::string text();
  std::uint64_t number() noexcept;
  bool flag() noexcept;
  // Lower case hex, exactly as many digits as `bytes` have.
  void hex(std::span<std::byte> bytes) noexcept;

  void fail() noexcept { failed_ = true; }
  bool failed() const noexcept { return failed_; }
  // All was taken, and all was well.
  bool is_done() const noexcept { return !failed_ && rest_.empty(); }

 private:
  // The byte that an escape stands for.
  unsigned char escaped() noexcept;
  unsigned digit() noexcept;

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace cordon::audit
