// SPDX-License-Identifier: Apache-2.0
// Output of programs as text that an answer has room for. (pure)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::mcp::server {

// Bytes of others as UTF-8: what is none becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

// The beginning and the end of `text`, which is UTF-8, with a note of how much is between; all of
// it where it is no longer than `most` bytes. `more`: how to get the rest; empty: it is not said.
struct Cut {
  std::string text;
  bool is_cut = false;
};
Cut head_and_tail(std::string_view text, std::size_t most, std::string_view more);

// At most `most` bytes from `at` on, and no half character at either end: begins later where `at`
// is within one.
std::string_view whole_characters(std::string_view text, std::size_t at, std::size_t most);

// A stream of which the first and the last bytes are kept, however long it is.
class KeptStream {
 public:
  // `most`: in all.
  explicit KeptStream(std::size_t most) : half_{most / 2} {}

  void add(std::string_view bytes);
  // With a note where something is missing.
  std::string text() const;
  std::uint64_t size() const noexcept { return size_; }
  // Gives its memory back.
  void clear() { head_ = tail_ = {}; }

 private:
  std::size_t half_;
  std::string head_, tail_;
  std::uint64_t size_ = 0;  // of all that came
};

// A stream of which the last bytes are kept, each with its place in it.
class RecentStream {
 public:
  explicit RecentStream(std::size_t most) : most_{most} {}

  void add(std::string_view bytes);
  // From `at` on, or from what is kept still.
  std::string_view from(std::uint64_t at) const;
  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return begin_ + held_.size(); }

 private:
  std::size_t most_;
  std::string held_;
  std::uint64_t begin_ = 0;
};

}  // namespace cordon::mcp::server
