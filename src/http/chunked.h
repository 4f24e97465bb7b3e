// SPDX-License-Identifier: Apache-2.0
// The chunked coding: read strictly, written plainly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/line_cutter.h"

namespace cordon::http {

// What one call found at the front of its bytes.
struct Piece {
  std::string_view data;     // a part of the body; points into the bytes, may be empty
  std::size_t consumed = 0;  // of the bytes, framing included
};

// A size is 1 to 16 hexadecimal digits and below 2^63. Extensions are refused: readers differ over
// where they end. Trailers are read as strictly as fields, and dropped.
class ChunkedReader {
 public:
  // Goes on to the end of the first run of data, or of `bytes`. Before: neither done() nor an
  // error.
  Result<Piece> next(std::string_view bytes);

  // The last chunk and its trailers were read: what follows is no part of the message.
  bool done() const noexcept { return state_ == State::done; }

 private:
  enum class State : std::uint8_t { size, size_end, data, data_cr, data_lf, trailers, done };

  Result<Piece> advance(std::string_view bytes);
  Status step(char c);
  Status read_size(char c);
  Status read_trailers(std::string_view& bytes);

  State state_ = State::size;
  bool is_refused_ = false;
  int digits_ = 0;
  std::uint64_t left_ = 0;  // of the chunk; while its size is read, the size so far
  std::uint64_t at_ = 0;    // bytes consumed in all, up to the trailers
  LineCutter trailers_{"trailers", std::size_t{8} << 10U};
};

// Appends `data` as one chunk; nothing when it is empty, because an empty chunk ends the body.
void append_chunk(std::string& out, std::string_view data);

// The line before the data of a chunk, for writers that do not copy the data, and what comes after
// it. Before: `size` is not 0.
std::string chunk_line(std::size_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";

// The end of a body without trailers.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace cordon::http
