// SPDX-License-Identifier: Apache-2.0
// A closed set of messages: one byte says which, its fields follow.
#pragma once

#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "frame/fields.h"

namespace cordon::frame {

template <class Variant>
std::vector<std::byte> encode_variant(const Variant& message) {
  static_assert(std::variant_size_v<Variant> < 256);
  ByteWriter out;
  out.integer(static_cast<std::uint8_t>(message.index()));
  FieldWriter fields{out};
  std::visit([&](const auto& alternative) { fields.put(alternative); }, message);
  return std::move(out).take();
}

inline std::vector<std::byte> with_length(const std::vector<std::byte>& body) {
  ByteWriter out;
  out.integer(static_cast<std::uint32_t>(body.size()));
  std::vector<std::byte> framed = std::move(out).take();
  framed.insert(framed.end(), body.begin(), body.end());
  return framed;
}

template <class Variant>
Result<Variant> decode_variant(std::span<const std::byte> body) {
  ByteReader in{body};
  TRY(const auto index, in.integer<std::uint8_t>());
  Result<Variant> message{Error{Errc::invalid, "a message of an unknown kind"}};
  const auto read_as = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    std::variant_alternative_t<I, Variant> alternative;
    FieldReader fields{in};
    Status status = fields.get(alternative);
    if (status) status = in.finish();
    if (status) {
      message = Result<Variant>{Variant{std::in_place_index<I>, std::move(alternative)}};
    } else {
      message = Result<Variant>{std::move(status).error()};
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(
        ((index == I ? (read_as(std::integral_constant<std::size_t, I>{}), true) : false) || ...));
  }(std::make_index_sequence<std::variant_size_v<Variant>>{});
  return message;
}

}  // namespace cordon::frame
