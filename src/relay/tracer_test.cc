// SPDX-License-Identifier: Apache-2.0
#include "relay/tracer.h"

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/socket.h"
#include "relay/unnamed.h"

namespace cordon::relay {
namespace {

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
// A message of protocol buffers, as runsc writes them: small numbers and short texts.
class Message {
 public:
  Message& number(unsigned field, unsigned value) {
    bytes_ += static_cast<char>(field << 3U);
    while (value >= 0x80U) {
      bytes_ += static_cast<char>(0x80U | (value & 0x7fU));
      value >>= 7U;
    }
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Message& text(unsigned field, std::string_view value) {
    bytes_ += static_cast<char>(field << 3U | 2U);
    bytes_ += static_cast<char>(value.size());
    bytes_.append(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string context(unsigned pid) { return Message{}.number(4, pid).text(8, "/work").bytes(); }

std::string packet(unsigned char kind, const Message& message, unsigned char dropped = 0) {
  const std::string head{8, 0, static_cast<char>(kind), 0, static_cast<char>(dropped), 0, 0, 0};
  return head + message.bytes();
}

std::string clone(unsigned by, unsigned made) {
  return packet(2, Message{}.text(1, context(by)).number(4, made));
}
std::string exec(unsigned pid, std::string_view path, unsigned char dropped = 0) {
  return packet(11, Message{}.text(1, context(pid)).text(2, "").number(3, SYS_execve).text(6, path),
                dropped);
}
std::string opened(unsigned pid, std::string_view path, unsigned flags) {
  return packet(7, Message{}
                       .text(1, context(pid))
                       .text(2, "")
                       .number(3, SYS_openat)
                       .text(6, path)
                       .number(7, flags));
}
std::string called(unsigned call, unsigned flags = 0) {
  return packet(6, Message{}.text(2, "").number(4, call).number(7, flags));
}

class TracerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto name = os::UnixAddress::abstract("cordon-tracer-" + std::to_string(::getpid()));
    os::Fd listener = *os::unix_listen(*name, os::SocketType::seqpacket);
    ASSERT_TRUE(os::set_nonblocking(listener, true));
    tracer.emplace(std::move(listener));
    engine = *os::unix_connect(*name, os::SocketType::seqpacket);
  }
  void say(std::string_view bytes) const { ASSERT_TRUE(os::send(engine, as_bytes(bytes))); }
  void shake_hands() {
    say("\x08\x01");
    EXPECT_FALSE(tracer->hear());
    std::array<std::byte, 16> answer{};
    const auto got = os::receive(engine, answer);
    ASSERT_TRUE(got);
    EXPECT_EQ(as_text(std::span{answer}.first(got->bytes)), as_text(kHandshake));
  }
  frame::Traced hear() {
    EXPECT_FALSE(tracer->hear());
    return tracer->take().value_or(frame::Traced{});
  }

  std::optional<Tracer> tracer;
  os::Fd engine;
};

TEST_F(TracerTest, TellsWhoseChildEachIsAndWhatItRuns) {
  shake_hands();
  say(clone(1, 2));
  say(exec(2, "/usr/bin/a-program-of-a-long-name"));
  say(clone(2, 3));
  say(opened(3, "made", 01101));
  const frame::Traced traced = hear();
  ASSERT_EQ(traced.acts.size(), 2U);
  EXPECT_EQ(traced.acts[0].parent, 1U);
  EXPECT_EQ(traced.acts[0].command, "a-program-of-a-");
  EXPECT_EQ(traced.acts[1].pid, 3U);
  EXPECT_EQ(traced.acts[1].parent, 2U);
  EXPECT_EQ(traced.acts[1].command, "a-program-of-a-");
  EXPECT_EQ(traced.acts[1].directory, "/work");
  EXPECT_EQ(tracer->take(), std::nullopt);
}

TEST_F(TracerTest, TellsNothingOfReadsNorOfInitItself) {
  shake_hands();
  say(opened(2, "/etc/passwd", 0));
  say(opened(1, "/anything", 01101));
  say(clone(1, 2));
  say(opened(2, "/proc/self/oom_score_adj", 2));
  EXPECT_TRUE(hear().acts.empty());
}

TEST_F(TracerTest, TellsWhatWasLost) {
  shake_hands();
  say(exec(2, "/bin/a"));
  EXPECT_EQ(hear().lost, 0U);
  say(exec(2, "/bin/b", 3));
  EXPECT_EQ(hear().lost, 3U);
  say("no packet");
  EXPECT_EQ(hear().lost, 1U);
  say(exec(2, "/bin/c", 5));
  EXPECT_EQ(hear().lost, 2U);
  tracer->lose({.lost = 4, .unnamed = 1});
  const frame::Traced traced = hear();
  EXPECT_EQ(traced.lost, 4U);
  EXPECT_EQ(traced.unnamed, 1U);
}

TEST_F(TracerTest, CountsCallsWhoseNamesCannotBeTold) {
  shake_hands();
  say(called(SYS_execve));
  say(exec(2, "/bin/a"));
  say(called(SYS_execve));
  say(called(SYS_openat, 01101));
  say(called(SYS_openat, 0));  // a read
  EXPECT_EQ(hear().unnamed, 0U);
  EXPECT_GE(tracer->patience(), 0);
  tracer->settle();
  EXPECT_EQ(hear().unnamed, 2U);
  EXPECT_LT(tracer->patience(), 0);
}

TEST_F(TracerTest, HearsAFrameAtATime) {
  shake_hands();
  std::size_t told = 0;
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 100; ++i) say(exec(2, "/bin/a"));
    bool is_more = true;
    while (is_more) {
      is_more = tracer->hear();
      const auto traced = tracer->take();
      ASSERT_TRUE(traced || !is_more);
      if (traced) told += traced->acts.size();
    }
  }
  EXPECT_EQ(told, 800U);
}

TEST_F(TracerTest, HearsNobodyWhoBeginsOtherwise) {
  say("hello");
  EXPECT_FALSE(tracer->hear());
  EXPECT_LT(tracer->descriptor(), 0);
}

TEST(Unnamed, GivesUpAfterAWhile) {
  Unnamed unnamed;
  const Unnamed::Time now{};
  unnamed.called({.call = SYS_execve}, now);
  unnamed.called({.call = SYS_openat, .error_number = EROFS}, now + std::chrono::seconds{1});
  unnamed.called({.call = SYS_openat, .error_number = ENOENT, .flags = 1}, now);
  unnamed.give_up(now + std::chrono::milliseconds{500});
  EXPECT_EQ(unnamed.take(), 0U);
  unnamed.give_up(now + std::chrono::milliseconds{1500});
  EXPECT_EQ(unnamed.take(), 1U);
  EXPECT_TRUE(unnamed.is_waiting());
  unnamed.named({.kind = frame::TracedKind::open, .call = SYS_openat, .error_number = EROFS});
  EXPECT_FALSE(unnamed.is_waiting());
}

TEST(Family, RemembersNoMoreThanItMay) {
  Family family;
  for (std::uint32_t pid = 2; pid < Family::kMostMembers + 100; ++pid) family.born(pid, 1);
  EXPECT_EQ(family.about(2).parent, 1U);
  EXPECT_EQ(family.about(Family::kMostMembers + 50).parent, 0U);
  family.born(2, 2);  // a thread
  EXPECT_EQ(family.about(2).parent, 1U);
  family.ended(2);
  EXPECT_EQ(family.about(2).parent, 0U);
}

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace
}  // namespace cordon::relay
