// SPDX-License-Identifier: Apache-2.0
#include "http/gunzip.h"

#include <array>
#include <new>
#include <zlib.h>

namespace cordon::http {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr int kGzipAlone = MAX_WBITS + 16;  // as zlib spells it

}  // namespace

struct Gunzip::State {
  z_stream stream{};
  std::array<char, kPiece> piece{};
  bool is_whole = false;  // a member has ended, and no other has begun
  bool has_begun = false;
};

Gunzip::Gunzip() : state_{std::make_unique<State>()} {
  // It fails for want of memory alone.
  if (::inflateInit2(&state_->stream, kGzipAlone) != Z_OK) throw std::bad_alloc{};
}
Gunzip::Gunzip(Gunzip&&) noexcept = default;
Gunzip::~Gunzip() {
  if (state_) ::inflateEnd(&state_->stream);
}

void Gunzip::push(std::string_view bytes) {
  // zlib reads from it, and says otherwise for the sake of old compilers.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast,cppcoreguidelines-pro-type-const-cast)
  state_->stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state_->stream.avail_in = static_cast<uInt>(bytes.size());
}

Result<std::string_view> Gunzip::next() {
  z_stream& stream = state_->stream;
  for (;;) {
    if (state_->is_whole && stream.avail_in == 0) return std::string_view{};
    // Members may follow each other.
    if (state_->is_whole) {
      if (::inflateReset(&stream) != Z_OK) return Error{Errc::invalid, "gzip: damaged"};
      state_->is_whole = false;
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zlib's bytes
    stream.next_out = reinterpret_cast<Bytef*>(state_->piece.data());
    stream.avail_out = kPiece;
    const int said = ::inflate(&stream, Z_NO_FLUSH);
    if (said != Z_OK && said != Z_STREAM_END && said != Z_BUF_ERROR) {
      return Error{Errc::invalid, "the body is said to be gzip, and is not, or is damaged"};
    }
    state_->has_begun = true;
    state_->is_whole = said == Z_STREAM_END;
    const std::size_t count = kPiece - stream.avail_out;
    if (count > 0) return std::string_view{state_->piece.data(), count};
    if (said != Z_STREAM_END) return std::string_view{};
  }
}

bool Gunzip::is_whole() const noexcept { return state_->has_begun && state_->is_whole; }

}  // namespace cordon::http
