// SPDX-License-Identifier: Apache-2.0
// Takes escapes out of a stream, byte by byte; what is no escape passes as it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace cordon::egress {

enum class Escapes : std::uint8_t {
  percent,  // %4a, %4A
  json,     // \u004a, \/, \n, ...; above U+007F as UTF-8
};

class Unescape {
 public:
  explicit Unescape(Escapes kind) noexcept : kind_{kind} {}

  // What this byte completes: none, one, or several bytes. Good until the next push.
  std::span<const std::uint8_t> push(std::uint8_t byte) noexcept;
  // True when no byte is kept back.
  bool is_idle() const noexcept { return held_size_ == 0; }

  static constexpr bool begins(Escapes kind, std::uint8_t byte) noexcept {
    return byte == static_cast<std::uint8_t>(kind == Escapes::percent ? '%' : '\\');
  }

  // What a backslash and `letter` stand for in JSON, other than \u.
  static std::optional<std::uint8_t> short_meaning(std::uint8_t letter) noexcept;

 private:
  // How far the bytes that are held have come.
  enum class Progress : std::uint8_t { more, done, none };
  Progress look() noexcept;
  void give(std::uint8_t byte) noexcept { out_[out_size_++] = byte; }
  void give_character(unsigned code) noexcept;

  Escapes kind_;
  std::uint8_t held_size_ = 0;
  std::uint8_t out_size_ = 0;
  std::array<std::uint8_t, 6> held_{};  // "\u004a"
  std::array<std::uint8_t, 8> out_{};
};

}  // namespace cordon::egress
