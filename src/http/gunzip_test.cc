// SPDX-License-Identifier: Apache-2.0
#include "http/gunzip.h"

#include <string>
#include <zlib.h>

#include <gtest/gtest.h>

namespace cordon::http {
namespace {

std::string packed(const std::string& plain) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, plain.size()) + 32, '\0');
  std::string in = plain;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return out;
}

struct Unpacked {
  std::string plain;
  bool is_whole = false;
  bool is_refused = false;
};

// In pieces of `step` bytes.
Unpacked unpacked(const std::string& bytes, std::size_t step) {
  Gunzip gunzip;
  Unpacked all;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    gunzip.push(std::string_view{bytes}.substr(at, step));
    for (;;) {
      const auto piece = gunzip.next();
      if (!piece) return {.is_refused = true};
      if (piece->empty()) break;
      all.plain += *piece;
    }
  }
  all.is_whole = gunzip.is_whole();
  return all;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i * 7919 % 10'007) + ' ';
  return text;
}

TEST(Gunzip, UnpacksWhatCameInPiecesOfAnyLength) {
  const std::string text = long_text();
  const std::string bytes = packed(text);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    const Unpacked all = unpacked(bytes, step);
    EXPECT_EQ(all.plain, text) << step;
    EXPECT_TRUE(all.is_whole) << step;
  }
}

TEST(Gunzip, UnpacksMembersThatFollowEachOther) {
  const Unpacked all = unpacked(packed("one ") + packed("two"), 3);
  EXPECT_EQ(all.plain, "one two");
  EXPECT_TRUE(all.is_whole);
}

TEST(Gunzip, GivesManyBytesOfFewInPieces) {
  const std::string zeros(std::size_t{8} << 20U, '\0');
  Gunzip gunzip;
  const std::string bytes = packed(zeros);
  gunzip.push(bytes);
  std::size_t total = 0;
  for (;;) {
    const auto piece = gunzip.next();
    ASSERT_TRUE(piece);
    if (piece->empty()) break;
    EXPECT_LE(piece->size(), std::size_t{64} << 10U);
    total += piece->size();
  }
  EXPECT_EQ(total, zeros.size());
}

TEST(Gunzip, KnowsABodyThatBreaksOff) {
  const std::string bytes = packed(long_text());
  EXPECT_FALSE(unpacked(bytes.substr(0, bytes.size() - 1), 100).is_whole);
  EXPECT_FALSE(unpacked("", 1).is_whole);
}

TEST(Gunzip, RefusesWhatIsNoGzipOrDamaged) {
  EXPECT_TRUE(unpacked("plain text, not packed", 100).is_refused);
  std::string bytes = packed(long_text());
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  EXPECT_TRUE(unpacked(bytes, 100).is_refused);
  EXPECT_TRUE(unpacked(packed("one") + "and more", 100).is_refused);
}

}  // namespace
}  // namespace cordon::http
