// SPDX-License-Identifier: Apache-2.0
// Nothing leaves a ring before it is acknowledged, and nothing is lost where it wraps.
#include "guest/ring.h"

#include <algorithm>
#include <random>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "guest/output_stream.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

std::string copy(const Ring& ring, std::uint64_t offset, std::size_t count) {
  std::vector<std::byte> bytes;
  ring.copy_to(bytes, offset, count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(OutputStream, OfNobodyEndsWhenAllIsReadThoughTheKernelTellsNoEnd) {
  auto pipe = os::pipe2(O_NONBLOCK);
  auto epoll = os::Epoll::create();
  ASSERT_TRUE(pipe && epoll);
  OutputStream stream{1, frame::Stream::out, 4096, 0};
  const std::string text(6000, 'x');
  ASSERT_EQ(::write(pipe->write.get(), text.data(), text.size()), 6000);
  ASSERT_TRUE(stream.open(*epoll, std::move(pipe->read)));
  ASSERT_TRUE(stream.drain_to_end(*epoll));
  std::vector<std::byte> out;
  while (stream.append_owed(out)) {
  }
  ASSERT_EQ(stream.sent(), 4096U);
  ASSERT_TRUE(*stream.acknowledge(*epoll, 4096));
  while (stream.append_owed(out)) {
  }
  EXPECT_EQ(stream.sent(), 6000U);
  EXPECT_FALSE(stream.finished());
  ASSERT_TRUE(*stream.acknowledge(*epoll, 6000));
  EXPECT_TRUE(stream.finished());
}

TEST(Ring, GivesBackWhatWentInHoweverItWraps) {
  std::mt19937 random{7};  // NOLINT(cert-msc51-cpp): the same numbers each time
  auto pipe = os::pipe2(O_NONBLOCK);
  ASSERT_TRUE(pipe);
  Ring ring{4096};
  std::string written;
  while (written.size() < 200'000) {
    std::string piece(1 + random() % 3000, '\0');
    std::ranges::generate(piece, [&] { return static_cast<char>(random()); });
    const ssize_t count = ::write(pipe->write.get(), piece.data(), piece.size());
    if (count > 0) written += piece.substr(0, static_cast<std::size_t>(count));
    if (!ring.full()) ASSERT_TRUE(ring.read_from(pipe->read));
    ASSERT_LE(ring.end() - ring.begin(), 4096U);
    const auto held = static_cast<std::size_t>(ring.end() - ring.begin());
    ASSERT_EQ(copy(ring, ring.begin(), held), written.substr(ring.begin(), held));
    ASSERT_TRUE(ring.acknowledge(ring.begin() + random() % (held + 1)));
  }
}

TEST(Ring, RefusesTheAcknowledgementOfBytesThatItNeverHad) {
  auto pipe = os::pipe2(O_NONBLOCK);
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(os::write_all(pipe->write, "abc"));
  Ring ring{4096};
  ASSERT_TRUE(ring.read_from(pipe->read));
  EXPECT_FALSE(ring.acknowledge(4));
  EXPECT_TRUE(ring.acknowledge(3));
  EXPECT_TRUE(ring.acknowledge(1));
  EXPECT_EQ(ring.begin(), 3U);
}

TEST(Ring, TellsNothingNowFromTheEnd) {
  auto pipe = os::pipe2(O_NONBLOCK);
  ASSERT_TRUE(pipe);
  Ring ring{4096};
  EXPECT_EQ(*ring.read_from(pipe->read), Ring::Read::nothing_now);
  pipe->write = os::Fd{};
  EXPECT_EQ(*ring.read_from(pipe->read), Ring::Read::ended);
}

TEST(OutputStream, WritesTheFrameThatTheCodecWrites) {
  auto epoll = os::Epoll::create();
  auto pipe = os::pipe2(O_NONBLOCK);
  ASSERT_TRUE(epoll && pipe);
  OutputStream stream{77, frame::Stream::err, 4096, 1};
  ASSERT_TRUE(stream.open(*epoll, std::move(pipe->read)));
  ASSERT_TRUE(os::write_all(pipe->write, "some bytes"));
  ASSERT_TRUE(stream.fill(*epoll));
  std::vector<std::byte> out;
  ASSERT_TRUE(stream.append_owed(out));
  EXPECT_EQ(out, encode(frame::FromGuest{frame::Output{
                     .process = 77, .stream = frame::Stream::err, .bytes = "some bytes"}}));
  EXPECT_FALSE(stream.append_owed(out));
  pipe->write = os::Fd{};
  ASSERT_TRUE(stream.fill(*epoll));
  out.clear();
  ASSERT_TRUE(stream.append_owed(out));
  EXPECT_EQ(out, encode(frame::FromGuest{
                     frame::OutputEnd{.process = 77, .stream = frame::Stream::err, .offset = 10}}));
  EXPECT_FALSE(stream.finished());
  EXPECT_TRUE(*stream.acknowledge(*epoll, 10));
  EXPECT_TRUE(stream.finished());
}

}  // namespace
}  // namespace cordon::guest
