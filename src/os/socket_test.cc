// SPDX-License-Identifier: Apache-2.0
#include "os/socket.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "os/file.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class SocketPairTest : public testing::TestWithParam<SocketType> {
 protected:
  void SetUp() override {
    auto pair = socketpair(GetParam());
    ASSERT_TRUE(pair) << pair.error().text();
    pair_ = *std::move(pair);
  }
  SocketPair pair_;
  std::array<std::byte, 64> buffer_{};
};

TEST_P(SocketPairTest, CarriesBytesAndDescriptorsToTheOtherEnd) {
  const auto pipe = pipe2();
  ASSERT_TRUE(pipe);
  const std::array fds{&pipe->write, &pipe->read};
  ASSERT_EQ(*send(pair_.one, as_bytes("two"), fds), 3U);
  auto got = receive(pair_.two, buffer_, 2);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(text_of(std::span{buffer_}.first(got->bytes)), "two");
  ASSERT_EQ(got->fds.size(), 2U);
  for (const Fd& fd : got->fds) EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_TRUE(write_all(got->fds[0], "x"));
  char byte = 0;
  EXPECT_EQ(::read(pipe->read.get(), &byte, 1), 1) << "it is the same pipe";
}

TEST_P(SocketPairTest, TellsNothingYetAndNoRoomYetFromAPeerThatIsGone) {
  const auto nothing = receive_now(pair_.two, buffer_);
  ASSERT_FALSE(nothing);
  EXPECT_TRUE(would_wait(nothing.error())) << nothing.error().text();
  ASSERT_TRUE(set_nonblocking(pair_.one, true));
  auto sent = send(pair_.one, buffer_);
  while (sent) sent = send(pair_.one, buffer_);
  EXPECT_TRUE(would_wait(sent.error())) << sent.error().text();
  pair_.two = Fd{};
  const auto gone = send(pair_.one, buffer_);
  ASSERT_FALSE(gone);
  EXPECT_FALSE(would_wait(gone.error())) << gone.error().text();
}

TEST_P(SocketPairTest, RefusesMoreDescriptorsThanAllowedAndClosesThem) {
  const std::size_t before = open_descriptors();
  const std::array fds{&pair_.one, &pair_.one, &pair_.one};
  for (const std::size_t allowed : {std::size_t{0}, std::size_t{2}}) {
    ASSERT_TRUE(send(pair_.one, as_bytes("x"), fds));
    const auto got = receive(pair_.two, buffer_, allowed);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Errc::invalid);
    EXPECT_EQ(open_descriptors(), before) << "none stays behind";
  }
  ASSERT_TRUE(send(pair_.one, as_bytes("x"), fds));
  const auto got = receive(pair_.two, buffer_, 3);
  ASSERT_TRUE(got);
  EXPECT_EQ(open_descriptors(), before + 3);
}

TEST_P(SocketPairTest, CarriesAsManyDescriptorsAsTheKernelAllows) {
  const std::vector<const Fd*> most(kMostFdsInMessage, &pair_.one);
  ASSERT_TRUE(send(pair_.one, as_bytes("x"), most));
  const auto got = receive(pair_.two, buffer_, kMostFdsInMessage);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->fds.size(), kMostFdsInMessage);
  const std::vector<const Fd*> more(kMostFdsInMessage + 1, &pair_.one);
  EXPECT_FALSE(send(pair_.one, as_bytes("x"), more));
}

TEST_P(SocketPairTest, TellsTheEndOfThePeer) {
  pair_.one = Fd{};
  const auto got = receive(pair_.two, buffer_);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, 0U);
  const auto sent = send(pair_.two, as_bytes("x"));
  ASSERT_FALSE(sent) << "and raises no SIGPIPE";
  EXPECT_EQ(sent.error().cause().value(), EPIPE);
}

TEST_P(SocketPairTest, SendsNoDescriptorWithoutAByte) {
  const std::array fds{&pair_.one};
  EXPECT_FALSE(send(pair_.one, {}, fds));
}

TEST_P(SocketPairTest, KnowsThePeer) {
  const auto peer = peer_credentials(pair_.one);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::geteuid());
  EXPECT_EQ(peer->gid, ::getegid());
}

INSTANTIATE_TEST_SUITE_P(Types, SocketPairTest,
                         testing::Values(SocketType::stream, SocketType::seqpacket),
                         [](const auto& type) {
                           return type.param == SocketType::stream ? "Stream" : "Seqpacket";
                         });

TEST(Seqpacket, RefusesAMessageThatDoesNotFitAndGoesOnWithTheNext) {
  const auto pair = socketpair(SocketType::seqpacket);
  ASSERT_TRUE(pair);
  std::array<std::byte, 4> small{};
  ASSERT_TRUE(send(pair->one, as_bytes("12345")));
  ASSERT_TRUE(send(pair->one, as_bytes("1234")));
  EXPECT_FALSE(receive(pair->two, small));
  const auto fits = receive(pair->two, small);
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->bytes, 4U);
}

TEST(UnixAddress, RefusesWhatTheKernelWouldCutOrMisread) {
  EXPECT_FALSE(UnixAddress::at_path(""));
  EXPECT_TRUE(UnixAddress::at_path(std::string(107, 'a')));
  EXPECT_FALSE(UnixAddress::at_path(std::string(108, 'a')));
  EXPECT_FALSE(UnixAddress::at_path(std::string_view{"a\0b", 3}));
  EXPECT_TRUE(UnixAddress::abstract(std::string(107, 'a')));
  EXPECT_FALSE(UnixAddress::abstract(std::string(108, 'a')));
  EXPECT_EQ(UnixAddress::at_path("/run/x")->text(), "/run/x");
  EXPECT_EQ(UnixAddress::abstract("name")->text(), "name");
}

TEST(UnixSocket, ConnectsToAListenerByPathOrAbstractName) {
  const TempDir dir;
  const std::string unique = (dir.path() / "socket").string();
  for (const auto& address : {UnixAddress::at_path(unique), UnixAddress::abstract(unique)}) {
    ASSERT_TRUE(address);
    const auto early = unix_connect(*address, SocketType::stream);
    ASSERT_FALSE(early);
    const auto listener = unix_listen(*address, SocketType::stream);
    ASSERT_TRUE(listener) << listener.error().text();
    const auto client = unix_connect(*address, SocketType::stream);
    ASSERT_TRUE(client) << client.error().text();
    const auto server = accept(*listener);
    ASSERT_TRUE(server);
    EXPECT_NE(::fcntl(server->get(), F_GETFD) & FD_CLOEXEC, 0);
    ASSERT_TRUE(send(*client, as_bytes("hi")));
    std::array<std::byte, 8> buffer{};
    EXPECT_EQ(receive(*server, buffer)->bytes, 2U);
    EXPECT_EQ(peer_credentials(*server)->uid, ::geteuid());
  }
}

TEST(UnixSocket, RefusesAPathThatIsTaken) {
  const TempDir dir;
  const auto address = UnixAddress::at_path((dir.path() / "socket").string());
  ASSERT_TRUE(address);
  const auto first = unix_listen(*address, SocketType::seqpacket);
  ASSERT_TRUE(first);
  const auto second = unix_listen(*address, SocketType::seqpacket);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cause().value(), EADDRINUSE);
}

}  // namespace
}  // namespace cordon::os
