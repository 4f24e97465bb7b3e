// SPDX-License-Identifier: Apache-2.0
#include "http/body.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace cordon::http {

Piece LengthReader::next(std::string_view bytes) noexcept {
  assert(!done());
  const auto data = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
  left_ -= data.size();
  return {.data = data, .consumed = data.size()};
}

BodyReader::BodyReader(const Framing& framing) : reader_{LengthReader{0}} {
  switch (framing.kind) {
    case Framing::Kind::none:
    case Framing::Kind::announced:
    case Framing::Kind::tunnel:
      break;
    case Framing::Kind::length:
      reader_ = LengthReader{framing.length};
      break;
    case Framing::Kind::chunked:
      reader_.emplace<ChunkedReader>();
      break;
    case Framing::Kind::until_close:
      reader_ = UntilClose{};
      break;
  }
}

Result<Piece> BodyReader::next(std::string_view bytes) {
  if (auto* const length = std::get_if<LengthReader>(&reader_)) return length->next(bytes);
  if (auto* const chunked = std::get_if<ChunkedReader>(&reader_)) return chunked->next(bytes);
  return Piece{.data = bytes, .consumed = bytes.size()};
}

bool BodyReader::done() const noexcept {
  if (const auto* const length = std::get_if<LengthReader>(&reader_)) return length->done();
  const auto* const chunked = std::get_if<ChunkedReader>(&reader_);
  return chunked != nullptr && chunked->done();
}

Status BodyReader::finish() const {
  if (done() || std::holds_alternative<UntilClose>(reader_)) return {};
  const auto* const length = std::get_if<LengthReader>(&reader_);
  return Error{Errc::unavailable,
               length == nullptr ? "the connection ended before the last chunk"
                                 : fmt::format("the connection ended {} bytes before the body did",
                                               length->left())};
}

}  // namespace cordon::http
