// SPDX-License-Identifier: Apache-2.0
#include "http/chunked.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "http/characters.h"
#include "http/field.h"
#include "http/refusal.h"

namespace cordon::http {
namespace {

constexpr int kMostDigits = 16;
constexpr std::uint64_t kSizeLimit = std::uint64_t{1} << 63U;

}  // namespace

Result<Piece> ChunkedReader::next(std::string_view bytes) {
  assert(!done() && !is_refused_);
  auto piece = advance(bytes);
  is_refused_ = !piece;
  return piece;
}

Result<Piece> ChunkedReader::advance(std::string_view bytes) {
  const std::size_t size = bytes.size();
  std::string_view data;
  while (!bytes.empty() && data.empty() && !done()) {
    if (state_ == State::data) {
      data = bytes.substr(0, std::min<std::uint64_t>(left_, bytes.size()));
      bytes.remove_prefix(data.size());
      at_ += data.size();
      left_ -= data.size();
      if (left_ == 0) state_ = State::data_cr;
    } else if (state_ == State::trailers) {
      TRY_DO(read_trailers(bytes));
    } else {
      TRY_DO(step(bytes.front()));
      bytes.remove_prefix(1);
      ++at_;
    }
  }
  return Piece{.data = data, .consumed = size - bytes.size()};
}

Status ChunkedReader::step(char c) {
  switch (state_) {
    case State::size:
      return read_size(c);
    case State::size_end:
      if (c != '\n') break;
      state_ = left_ == 0 ? State::trailers : State::data;
      digits_ = 0;
      return {};
    case State::data_cr:
      if (c != '\r') return refused(kInBody, at_, "no CR LF after the data of a chunk");
      state_ = State::data_lf;
      return {};
    case State::data_lf:
      if (c != '\n') break;
      state_ = State::size;
      return {};
    case State::data:
    case State::trailers:
    case State::done:
      break;
  }
  return refused(kInBody, at_ - 1, "a CR stands only before the LF that ends a line");
}

Status ChunkedReader::read_size(char c) {
  const int value = hex_value(c);
  if (value < 0) {
    if (digits_ == 0) return refused(kInBody, at_, "a chunk begins with its size in hexadecimal");
    if (c == '\n') return refused(kInBody, at_, "a line ends in CR LF, not in LF alone");
    if (c == ';') return refused(kInBody, at_, "a chunk with an extension");
    if (c != '\r') return refused(kInBody, at_, "nothing but digits in the size of a chunk");
    state_ = State::size_end;
    return {};
  }
  left_ = left_ * 16 + static_cast<std::uint64_t>(value);
  if (++digits_ > kMostDigits || left_ >= kSizeLimit)
    return refused(kInBody, at_, "the size of a chunk has at most 16 digits and is below 2^63");
  return {};
}

Status ChunkedReader::read_trailers(std::string_view& bytes) {
  TRY(const auto line, trailers_.next(bytes));
  if (!line) return {};
  if (line->text.empty()) {
    state_ = State::done;
    return {};
  }
  TRY(const FieldView dropped, parse_field(*line, trailers_.where(), Alphabet::any));
  (void)dropped;
  return {};
}

void append_chunk(std::string& out, std::string_view data) {
  if (data.empty()) return;
  out.append(chunk_line(data.size())).append(data).append(kChunkEnd);
}

std::string chunk_line(std::size_t size) {
  assert(size > 0);
  return fmt::format("{:x}\r\n", size);
}

}  // namespace cordon::http
