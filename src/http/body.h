// SPDX-License-Identifier: Apache-2.0
// Reads a body by its framing, in place: what is data points into the bytes that were given.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "http/chunked.h"
#include "http/framing.h"

namespace cordon::http {

// A body of so many bytes; of 0 it is done from the start.
class LengthReader {
 public:
  explicit LengthReader(std::uint64_t length) noexcept : left_{length} {}

  // Before: not done().
  Piece next(std::string_view bytes) noexcept;
  bool done() const noexcept { return left_ == 0; }
  std::uint64_t left() const noexcept { return left_; }

 private:
  std::uint64_t left_;
};

// Any body. Feed it until it is done or the connection ends:
//   while (!body.done()) { piece = body.next(bytes); use piece.data; drop piece.consumed }
class BodyReader {
 public:
  explicit BodyReader(const Framing& framing);

  // Before: neither done() nor an error. Consumes all of `bytes`, unless a run of data or the body
  // ends earlier.
  Result<Piece> next(std::string_view bytes);

  // What follows is no part of the message. Never true of a body that only the connection's end
  // ends.
  bool done() const noexcept;

  // The connection has ended: was that the end of the body?
  Status finish() const;

 private:
  struct UntilClose {};
  std::variant<LengthReader, ChunkedReader, UntilClose> reader_;
};

}  // namespace cordon::http
