// SPDX-License-Identifier: Apache-2.0
// One description of a message serves writing, reading and comparing: a struct lists its fields
// once, and these two walk the list.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace cordon::frame {

// No message of ours lists more of anything.
inline constexpr std::size_t kMostItems = 4096;

// A struct that travels says so with CORDON_FIELDS.
template <class T>
concept Travels = requires(T& value) { T::fields(value); };

// An enum that travels has an overload of last_of that gives its greatest value; the smallest is 0.
template <class T>
concept ClosedEnum = std::is_enum_v<T> && requires(T value) {
  { last_of(value) } -> std::same_as<T>;
};

// A struct that shows bytes of somebody else's: read, it points into the message.
template <class T>
concept ViewOfBytes = !Travels<T> && requires(T& value) {
  { value.bytes } -> std::same_as<std::span<const std::byte>&>;
};

// Inside a struct: lists its fields, in the order of the wire, and makes it comparable.
#define CORDON_FIELDS(Type, ...)                    \
  template <class Self>                             \
  static auto fields([[maybe_unused]] Self& self) { \
    return std::tie(__VA_ARGS__);                   \
  }                                                 \
  friend bool operator==(const Type&, const Type&) = default

class FieldWriter {
 public:
  explicit FieldWriter(ByteWriter& out) : out_{out} {}

  void put(bool value) { out_.integer(static_cast<std::uint8_t>(value ? 1 : 0)); }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  void put(T value) {
    out_.integer(value);
  }
  void put(std::int32_t value) { out_.integer(static_cast<std::uint32_t>(value)); }
  template <ClosedEnum T>
  void put(T value) {
    out_.integer(static_cast<std::uint8_t>(value));
  }
  void put(const std::string& value) { out_.text(value); }
  template <class T>
  void put(const std::vector<T>& values) {
    out_.integer(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  // Bytes that stay where they are.
  template <ViewOfBytes T>
  void put(const T& value) {
    out_.text(as_text(value.bytes));
  }
  template <Travels T>
  void put(const T& value) {
    std::apply([this](const auto&... each) { (this->put(each), ...); }, T::fields(value));
  }

 private:
  ByteWriter& out_;
};

// Refuses what the writer would not have written: booleans other than 0 and 1, enum values past the
// last, more items or bytes than the message holds.
class FieldReader {
 public:
  explicit FieldReader(ByteReader& in) : in_{in} {}

  Status get(bool& value) {
    TRY(const auto raw, in_.integer<std::uint8_t>());
    if (raw > 1) return Error{Errc::invalid, "a flag that is neither 0 nor 1"};
    value = raw == 1;
    return {};
  }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Status get(T& value) {
    TRY(value, in_.integer<T>());
    return {};
  }
  Status get(std::int32_t& value) {
    TRY(const auto raw, in_.integer<std::uint32_t>());
    value = static_cast<std::int32_t>(raw);
    return {};
  }
  template <ClosedEnum T>
  Status get(T& value) {
    TRY(const auto raw, in_.integer<std::uint8_t>());
    if (raw > static_cast<std::uint8_t>(last_of(T{}))) {
      return Error{Errc::invalid, "a choice that does not exist"};
    }
    value = static_cast<T>(raw);
    return {};
  }
  Status get(std::string& value) {
    TRY(const auto text, in_.text(in_.left()));
    value = text;
    return {};
  }
  template <class T>
  Status get(std::vector<T>& values) {
    TRY(const auto count, in_.integer<std::uint32_t>());
    // Every item takes at least one byte, so that no small message makes a large list.
    if (count > kMostItems || count > in_.left()) {
      return Error{Errc::invalid, "a list longer than its message"};
    }
    values.resize(count);
    for (T& value : values) TRY_DO(get(value));
    return {};
  }
  template <class T>
  Status get(std::optional<T>& value) {
    bool there = false;
    TRY_DO(get(there));
    if (there) return get(value.emplace());
    value.reset();
    return {};
  }
  template <ViewOfBytes T>
  Status get(T& value) {
    TRY(const auto text, in_.text(in_.left()));
    value.bytes = as_bytes(text);
    return {};
  }
  template <Travels T>
  Status get(T& value) {
    Status status;
    std::apply(
        [&](auto&... each) {
          static_cast<void>(((status = this->get(each), status.has_value()) && ...));
        },
        T::fields(value));
    return status;
  }

 private:
  ByteReader& in_;
};

}  // namespace cordon::frame
