// SPDX-License-Identifier: Apache-2.0
// One tunnel: windows, half-closes, and an other end that nothing is believed of.
#include "guest/tunnel.h"

#include <arpa/inet.h>
#include <cerrno>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/dial.h"
#include "os/file.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

class OneTunnel : public testing::Test {
 protected:
  void SetUp() override {
    auto epoll = os::Epoll::create();
    ASSERT_TRUE(epoll);
    epoll_ = std::make_unique<os::Epoll>(*std::move(epoll));
    auto answer = tunnel_.await(*epoll_);
    ASSERT_TRUE(answer);
    answer_ = *std::move(answer);
  }
  // Listens at a port of its own.
  std::uint16_t listen(bool six = false) {
    listener_ = os::Fd{::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in6 six_address{};
    six_address.sin6_family = AF_INET6;
    six_address.sin6_addr = in6addr_loopback;
    sockaddr_in four{.sin_family = AF_INET, .sin_addr = {.s_addr = ::htonl(INADDR_LOOPBACK)}};
    auto* address =
        six ? reinterpret_cast<sockaddr*>(&six_address) : reinterpret_cast<sockaddr*>(&four);
    socklen_t size = six ? sizeof six_address : sizeof four;
    EXPECT_EQ(::bind(listener_.get(), address, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 4), 0);
    EXPECT_EQ(::getsockname(listener_.get(), address, &size), 0);
    return ::ntohs(six ? six_address.sin6_port : four.sin_port);
  }
  void open() {
    dial({.tunnel = 7, .port = listen()}, answer_);
    program_ = os::Fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    ASSERT_TRUE(program_);
    tunnel_.hear_answer(*epoll_);
    ASSERT_EQ(owed(), (std::vector<frame::FromGuest>{frame::TunnelOpened{7}}));
  }
  // All that is owed until nothing is.
  std::vector<frame::FromGuest> owed() {
    std::vector<std::byte> bytes;
    while (tunnel_.append_owed(bytes)) {
    }
    frame::FrameCutter cutter;
    cutter.push(bytes);
    std::vector<frame::FromGuest> frames;
    while (true) {
      const auto next = cutter.next();
      const auto body = next ? *next : std::nullopt;
      if (!body) return frames;
      auto frame = frame::decode_from_guest(*body);
      if (frame) frames.push_back(*std::move(frame));
    }
  }
  // Serves the set until nothing is ready at once.
  void turn() {
    for (auto ready = epoll_->wait(std::chrono::milliseconds{20}); ready && !ready->empty();
         ready = epoll_->wait(std::chrono::milliseconds{20})) {
      tunnel_.move(*epoll_);
    }
  }
  std::string heard() {
    std::string all;
    for (const auto& frame : owed()) {
      if (const auto* data = std::get_if<frame::TunnelData>(&frame)) all += data->bytes;
    }
    return all;
  }
  int failure() {
    for (const auto& frame : owed()) {
      if (const auto* failed = std::get_if<frame::TunnelFailed>(&frame)) {
        return failed->error_number;
      }
    }
    return 0;
  }
  std::string read_program() const {
    std::string text(std::size_t{1} << 20U, '\0');
    const ssize_t count = ::recv(program_.get(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

  std::unique_ptr<os::Epoll> epoll_;
  Tunnel tunnel_{7, 1, 2};
  os::Fd answer_;
  os::Fd listener_;
  os::Fd program_;
};

TEST_F(OneTunnel, CarriesBytesBothWaysAndTheEndOfEach) {
  open();
  ASSERT_TRUE(tunnel_.give(*epoll_, "question"));
  EXPECT_EQ(read_program(), "question");
  ASSERT_EQ(::send(program_.get(), "answer", 6, 0), 6);
  turn();
  EXPECT_EQ(owed(), (std::vector<frame::FromGuest>{frame::TunnelTaken{7, 8},
                                                   frame::TunnelData{7, "answer"}}));
  tunnel_.end_input(*epoll_);
  char none = 0;
  EXPECT_EQ(::recv(program_.get(), &none, 1, 0), 0) << "the end is the program's to see";
  EXPECT_FALSE(tunnel_.is_over());
  ASSERT_EQ(::send(program_.get(), "late", 4, 0), 4);
  program_ = os::Fd{};
  turn();
  EXPECT_EQ(owed(),
            (std::vector<frame::FromGuest>{frame::TunnelData{7, "late"}, frame::TunnelEnd{7}}));
  EXPECT_TRUE(tunnel_.is_over());
}

TEST_F(OneTunnel, ReadsNoMoreThanItsWindow) {
  open();
  const std::string many(3 * frame::kTunnelWindow, 'x');
  std::size_t sent = 0;
  std::string got;
  for (int rounds = 0; rounds < 200 && got.size() < many.size(); ++rounds) {
    const ssize_t count =
        ::send(program_.get(), many.data() + sent, many.size() - sent, MSG_DONTWAIT);
    if (count > 0) sent += static_cast<std::size_t>(count);
    turn();
    const std::string part = heard();
    EXPECT_LE(part.size(), frame::kTunnelWindow);
    got += part;
    turn();
    EXPECT_EQ(heard(), "") << "nothing beyond what is confirmed";
    ASSERT_TRUE(tunnel_.confirm(*epoll_, got.size()));
  }
  EXPECT_EQ(got.size(), many.size());
  EXPECT_FALSE(tunnel_.confirm(*epoll_, got.size() + 1)) << "bytes that were never sent";
}

TEST_F(OneTunnel, TakesNoMoreThanItsWindow) {
  open();
  const std::string window(frame::kTunnelWindow, 'x');
  // The kernel's buffers take some; then the window is all.
  bool refused = false;
  for (int rounds = 0; rounds < 1000 && !refused; ++rounds) {
    refused = !tunnel_.give(*epoll_, window);
  }
  EXPECT_TRUE(refused);
}

TEST_F(OneTunnel, TellsWhyThereIsNone) {
  const std::uint16_t port = listen();
  listener_ = os::Fd{};
  dial({.tunnel = 7, .port = port}, answer_);
  tunnel_.hear_answer(*epoll_);
  EXPECT_EQ(failure(), ECONNREFUSED);
  EXPECT_TRUE(tunnel_.is_over());
}

TEST_F(OneTunnel, ReachesTheOtherLoopbackToo) {
  if (::access("/proc/net/if_inet6", F_OK) != 0) GTEST_SKIP() << "no IPv6 here";
  dial({.tunnel = 7, .port = listen(true)}, answer_);
  tunnel_.hear_answer(*epoll_);
  EXPECT_EQ(owed(), (std::vector<frame::FromGuest>{frame::TunnelOpened{7}}));
}

TEST_F(OneTunnel, TellsOfAProgramThatBreaksIt) {
  open();
  ASSERT_TRUE(tunnel_.give(*epoll_, "unread"));
  const linger now{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(::setsockopt(program_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
  program_ = os::Fd{};
  turn();
  EXPECT_EQ(failure(), ECONNRESET);
  EXPECT_TRUE(tunnel_.is_over());
  EXPECT_TRUE(tunnel_.give(*epoll_, "not known yet"));
}

// Whoever connects has the workload's id.
TEST_F(OneTunnel, BelievesNoDescriptorThatIsNoConnection) {
  const auto pipe = os::pipe2();
  ASSERT_TRUE(pipe);
  const int fine = 0;
  const os::Fd* const fds[] = {&pipe->read};
  ASSERT_TRUE(os::send(answer_, std::as_bytes(std::span{&fine, 1}), fds));
  tunnel_.hear_answer(*epoll_);
  EXPECT_EQ(failure(), EPROTO);
}

TEST_F(OneTunnel, BelievesNoAnswerWithoutADescriptorNorAShortOne) {
  const int fine = 0;
  ASSERT_TRUE(os::send(answer_, std::as_bytes(std::span{&fine, 1})));
  tunnel_.hear_answer(*epoll_);
  EXPECT_EQ(failure(), EPROTO);
  Tunnel other{8, 1, 2};
  auto answer = other.await(*epoll_);
  ASSERT_TRUE(answer);
  *answer = os::Fd{};  // it was killed
  other.hear_answer(*epoll_);
  std::vector<std::byte> bytes;
  EXPECT_TRUE(other.append_owed(bytes));
  EXPECT_TRUE(other.is_over());
}

// Flags belong to the open file: who kept a copy can make it wait, and pid 1 must not.
TEST_F(OneTunnel, DoesNotWaitForASocketThatWasMadeToWait) {
  const std::uint16_t port = listen();
  os::Fd mine{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in there{.sin_family = AF_INET,
                          .sin_port = ::htons(port),
                          .sin_addr = {.s_addr = ::htonl(INADDR_LOOPBACK)}};
  ASSERT_EQ(::connect(mine.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  ASSERT_TRUE(os::set_nonblocking(mine, false));
  const int fine = 0;
  const os::Fd* const fds[] = {&mine};
  ASSERT_TRUE(os::send(answer_, std::as_bytes(std::span{&fine, 1}), fds));
  tunnel_.hear_answer(*epoll_);
  tunnel_.move(*epoll_);  // nothing is there to read: this would wait for ever
  const std::string window(frame::kTunnelWindow, 'x');
  for (int rounds = 0; rounds < 1000 && tunnel_.give(*epoll_, window); ++rounds) {
  }
  SUCCEED();
}

}  // namespace
}  // namespace cordon::guest
