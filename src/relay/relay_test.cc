// SPDX-License-Identifier: Apache-2.0
#include "relay/relay.h"

#include <array>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <variant>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "frame/guest.h"
#include "os/file.h"
#include "os/socket.h"
#include "relay/trace_packet.h"

namespace cordon::relay {
namespace {

using frame::FromGuest;
using frame::ToGuest;

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
// Both ends of a relay in a thread: a host at `host`, a guest at two pipes.
class Rig {
 public:
  explicit Rig(os::Fd trace = {}, MachineTask task = MachineTask::none) {
    os::SocketPair pair = *os::socketpair(os::SocketType::stream);
    os::Pipe in = *os::pipe2();
    os::Pipe out = *os::pipe2();
    os::Pipe words = *os::pipe2();
    os::Pipe life = *os::pipe2();
    host = std::move(pair.one);
    guest_in = std::move(in.read);
    guest_out = std::move(out.write);
    guest_words = std::move(words.write);
    engine = std::move(life.write);
    Ends ends{.control = std::move(pair.two),
              .to_guest = std::move(in.write),
              .from_guest = std::move(out.read),
              .words = std::move(words.read),
              .engine = std::move(life.read),
              .trace = std::move(trace)};
    for (const os::Fd* end : {&ends.control, &ends.to_guest, &ends.from_guest, &ends.words}) {
      EXPECT_TRUE(os::set_nonblocking(*end, true));
    }
    thread_ = std::thread{
        [this, task, ends = std::move(ends)]() mutable { end_ = carry(std::move(ends), task); }};
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() {
    host = os::Fd{};
    engine = os::Fd{};
    if (thread_.joinable()) thread_.join();
  }

  RelayEnd end() {
    thread_.join();
    return end_;
  }

  os::Fd host;
  os::Fd guest_in;
  os::Fd guest_out;
  os::Fd guest_words;
  os::Fd engine;  // its end is the engine's

 private:
  std::thread thread_;
  RelayEnd end_ = RelayEnd::protocol_error;
};

void write(const os::Fd& to, std::span<const std::byte> bytes) {
  ASSERT_TRUE(os::write_all(to, as_text(bytes)));
}

// The next whole frame; nothing within a while, or at the end.
class Reader {
 public:
  explicit Reader(const os::Fd& from) : from_{from} {}
  std::optional<std::vector<std::byte>> next(int milliseconds = 5000) {
    while (true) {
      const auto body = cutter_.next();
      if (body && *body) return std::vector<std::byte>{(*body)->begin(), (*body)->end()};
      pollfd news{.fd = from_.get(), .events = POLLIN, .revents = 0};
      if (!body || ::poll(&news, 1, milliseconds) <= 0) return std::nullopt;
      std::array<std::byte, 65536> piece{};
      const ssize_t got = ::read(from_.get(), piece.data(), piece.size());
      if (got <= 0) return std::nullopt;
      cutter_.push(std::span{piece}.first(static_cast<std::size_t>(got)));
    }
  }
  template <class Said>
  std::optional<Said> said(int milliseconds = 5000) {
    const auto body = next(milliseconds);
    if (!body) return std::nullopt;
    auto decoded = frame::decode_from_guest(*body);
    const auto* const found = decoded ? std::get_if<Said>(&*decoded) : nullptr;
    return found != nullptr ? std::optional{*found} : std::nullopt;
  }

 private:
  const os::Fd& from_;
  frame::FrameCutter cutter_;
};

std::vector<std::byte> output(std::size_t size) {
  return encode(FromGuest{frame::Output{.process = 1, .bytes = std::string(size, 'x')}});
}

TEST(Relay, CarriesFramesBothWays) {
  Rig rig;
  write(rig.host, encode(ToGuest{frame::AskUsage{.request = 7}}));
  const auto asked = Reader{rig.guest_in}.next();
  ASSERT_TRUE(asked);
  const auto decoded = frame::decode_to_guest(*asked);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<frame::AskUsage>(*decoded).request, 7U);
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  EXPECT_TRUE(Reader{rig.host}.said<frame::Hello>());
}

TEST(Relay, PassesNoHalfFrameOnAndTellsTheGuestOfANewStream) {
  Rig rig;
  // Half of a request, and then its host is gone and another there.
  const auto request = encode(ToGuest{frame::AskUsage{.request = 7}});
  write(rig.host, std::span{request}.first(5));
  os::SocketPair next = *os::socketpair(os::SocketType::stream);
  const std::array<std::byte, 1> word{};
  const os::Fd* const beside = &next.two;
  // What the guest had said to the first is for nobody.
  write(rig.guest_out, output(100));
  ASSERT_TRUE(Reader{rig.host}.said<frame::Output>());
  ASSERT_TRUE(os::send(rig.host, word, {&beside, 1}));
  next.two = os::Fd{};
  Reader in{rig.guest_in};
  const auto first = in.next();
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::holds_alternative<frame::Resume>(*frame::decode_to_guest(*first)));
  write(rig.guest_out, output(100));
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  write(rig.guest_out, output(3));
  Reader host{next.one};
  EXPECT_TRUE(host.said<frame::Hello>());
  const auto after = host.said<frame::Output>();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->bytes.size(), 3U);
  write(next.one, encode(ToGuest{frame::AskUsage{.request = 8}}));
  const auto whole = in.next();
  ASSERT_TRUE(whole);
  EXPECT_EQ(std::get<frame::AskUsage>(*frame::decode_to_guest(*whole)).request, 8U);
}

TEST(Relay, HoldsTheGuestUpWhoseHostDoesNotRead) {
  Rig rig;
  ASSERT_TRUE(os::set_nonblocking(rig.guest_out, true));
  const auto piece = output(frame::kMostData);
  std::size_t taken = 0;
  pollfd room{.fd = rig.guest_out.get(), .events = POLLOUT, .revents = 0};
  while (::poll(&room, 1, 300) > 0 && taken < (std::size_t{64} << 20U)) {
    const auto rest = std::span{piece}.subspan(taken % piece.size());
    const ssize_t sent = ::write(rig.guest_out.get(), rest.data(), rest.size());
    if (sent > 0) taken += static_cast<std::size_t>(sent);
  }
  EXPECT_LT(taken, std::size_t{8} << 20U);
}

TEST(Relay, EndsWithItsHost) {
  Rig rig;
  rig.host = os::Fd{};
  EXPECT_EQ(rig.end(), RelayEnd::host_gone);
}

TEST(Relay, GivesWhatAnEngineWroteBeforeItsEnd) {
  Rig rig;
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  write(rig.guest_out, output(1000));
  rig.engine = os::Fd{};
  Reader host{rig.host};
  EXPECT_TRUE(host.said<frame::Hello>());
  EXPECT_TRUE(host.said<frame::Output>());
  EXPECT_EQ(rig.end(), RelayEnd::engine_ended);
}

TEST(Relay, TellsTheLastWordsOfAnEngineThatCouldNotBegin) {
  Rig rig;
  ASSERT_TRUE(os::write_all(rig.guest_words, "cannot create sandbox"));
  rig.engine = os::Fd{};
  const auto failed = Reader{rig.host}.said<frame::Failed>();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->process, 0U);
  EXPECT_EQ(failed->step, "engine: cannot create sandbox");
}

TEST(Relay, TellsAMachineTheTimeWhenItIsReadyForIt) {
  Rig rig;
  write(rig.host, encode(ToGuest{frame::Wake{.host_name = "h", .seed = "s", .clock = 0}}));
  write(rig.host, encode(ToGuest{frame::AskUsage{.request = 7}}));
  Reader in{rig.guest_in};
  EXPECT_FALSE(in.next(200));
  write(rig.guest_out, encode(FromGuest{frame::Ready{}}));
  const auto first = in.next();
  ASSERT_TRUE(first);
  const auto wake = std::get<frame::Wake>(*frame::decode_to_guest(*first));
  EXPECT_EQ(wake.host_name, "h");
  EXPECT_GT(wake.clock, 1'700'000'000'000'000'000U);
  const auto second = in.next();
  ASSERT_TRUE(second);
  EXPECT_TRUE(std::holds_alternative<frame::AskUsage>(*frame::decode_to_guest(*second)));
  // Ready was for the relay alone.
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  EXPECT_TRUE(Reader{rig.host}.said<frame::Hello>());
}

// It is told for what it is prepared, and is nobody yet.
TEST(Relay, WakesNoMachineThatWillBeSaved) {
  Rig rig{{}, MachineTask::save};
  write(rig.host, encode(ToGuest{frame::Wake{.host_name = "h", .seed = "s", .clock = 0}}));
  write(rig.host, encode(ToGuest{frame::Setup{.disk = "/home", .standby = {}}}));
  Reader in{rig.guest_in};
  const auto first = in.next();
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::holds_alternative<frame::Setup>(*frame::decode_to_guest(*first)));
  write(rig.guest_out, encode(FromGuest{frame::Ready{}}));
  EXPECT_FALSE(in.next(200));
  EXPECT_EQ(rig.end(), RelayEnd::protocol_error) << "there is no monitor to save it by";
}

TEST(Relay, TellsWhatProgramsDidBeforeWhatTheGuestSaidOfThem) {
  const auto name = *os::UnixAddress::abstract("cordon-relay-" + std::to_string(::getpid()));
  os::Fd listener = *os::unix_listen(name, os::SocketType::seqpacket);
  ASSERT_TRUE(os::set_nonblocking(listener, true));
  Rig rig{std::move(listener)};
  const os::Fd engine = *os::unix_connect(name, os::SocketType::seqpacket);
  ASSERT_TRUE(os::send(engine, kHandshake));
  std::array<std::byte, 16> answer{};
  ASSERT_TRUE(os::receive(engine, answer));
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  Reader host{rig.host};
  EXPECT_TRUE(host.said<frame::Hello>());
  // An exec of "/b" by 3, of which the guest then says that it has ended.
  std::array<std::byte, 23> exec{};
  ASSERT_TRUE(from_hex("08000b00000000000a0220031200183b32022f623a0162", exec));
  ASSERT_TRUE(os::send(engine, exec));
  write(rig.guest_out, encode(FromGuest{frame::Exited{.process = 1}}));
  const auto traced = host.said<frame::Traced>();
  ASSERT_TRUE(traced);
  ASSERT_EQ(traced->acts.size(), 1U);
  EXPECT_EQ(traced->acts[0].path, "/b");
  EXPECT_EQ(traced->acts[0].pid, 3U);
  EXPECT_TRUE(host.said<frame::Exited>());
}

TEST(Relay, BelievesNoGuestWhatProgramsDo) {
  Rig rig;
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  write(rig.guest_out, encode(FromGuest{frame::Traced{.acts = {{.path = "/bin/forged"}}}}));
  EXPECT_EQ(rig.end(), RelayEnd::protocol_error);
}

TEST(Relay, PassesOnWhatAMachineTellsOfPrograms) {
  Rig rig{{}, MachineTask::carry};
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  write(rig.guest_out, encode(FromGuest{frame::Traced{.events = {"one", "two"}, .lost = 1}}));
  Reader host{rig.host};
  EXPECT_TRUE(host.said<frame::Hello>());
  const auto traced = host.said<frame::Traced>();
  ASSERT_TRUE(traced);
  EXPECT_EQ(traced->events, (std::vector<std::string>{"one", "two"}));
}

TEST(Relay, CountsWhatAMachineTellsBetweenTwoHosts) {
  Rig rig{{}, MachineTask::carry};
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  EXPECT_TRUE(Reader{rig.host}.said<frame::Hello>());
  os::SocketPair next = *os::socketpair(os::SocketType::stream);
  const os::Fd* const beside = &next.two;
  const std::array<std::byte, 1> word{};
  ASSERT_TRUE(os::send(rig.host, word, {&beside, 1}));
  EXPECT_TRUE(Reader{rig.guest_in}.next());  // Resume: the old stream has been left
  write(rig.guest_out, encode(FromGuest{frame::Traced{.events = {"one", "two"}, .lost = 1}}));
  write(rig.guest_out, encode(FromGuest{frame::Hello{}}));
  write(rig.guest_out, encode(FromGuest{frame::Exited{.process = 1}}));
  Reader host{next.one};
  EXPECT_TRUE(host.said<frame::Hello>());
  const auto traced = host.said<frame::Traced>();
  ASSERT_TRUE(traced);
  EXPECT_TRUE(traced->events.empty());
  EXPECT_EQ(traced->lost, 3U);
}

TEST(Relay, EndsAtWhatIsNoFrame) {
  Rig rig;
  const std::array<std::byte, 4> none{};
  write(rig.guest_out, none);
  EXPECT_EQ(rig.end(), RelayEnd::protocol_error);
}

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace
}  // namespace cordon::relay
