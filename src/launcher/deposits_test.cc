// SPDX-License-Identifier: Apache-2.0
#include "launcher/deposits.h"

#include <array>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "os/socket.h"
#include "os/test_support.h"

namespace cordon::launcher {
namespace {

std::vector<os::Fd> list(os::Fd one, os::Fd two = {}, os::Fd three = {}) {
  std::vector<os::Fd> fds;
  for (os::Fd* fd : {&one, &two, &three}) {
    if (*fd) fds.push_back(std::move(*fd));
  }
  return fds;
}

os::Fd stream() {
  auto pair = os::socketpair(os::SocketType::stream);
  return pair ? std::move(pair->one) : os::Fd{};
}

os::Fd packets() {
  auto pair = os::socketpair(os::SocketType::seqpacket);
  return pair ? std::move(pair->one) : os::Fd{};
}

os::Fd file(const os::TempDir& dir) {
  auto made = os::openat(dir.fd(), "lock", O_RDWR | O_CREAT, 0600);
  return made ? *std::move(made) : os::Fd{};
}

TEST(Deposits, KeepAStreamUntilItIsRemoved) {
  auto pair = os::socketpair(os::SocketType::stream);
  ASSERT_TRUE(pair);
  Deposits deposits;
  ASSERT_TRUE(deposits.add("abcd2345", list(std::move(pair->one))));
  ASSERT_NE(deposits.find("abcd2345"), nullptr);
  EXPECT_FALSE(deposits.find("abcd2345")->range);
  EXPECT_EQ(deposits.find("bbbb2345"), nullptr);
  EXPECT_TRUE(deposits.remove("abcd2345"));
  // The other end sees that nobody holds it any more.
  std::array<std::byte, 1> word{};
  const auto got = os::receive(pair->two, word);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, 0U);
  EXPECT_FALSE(deposits.remove("abcd2345"));
}

TEST(Deposits, KeepTheLockOfItsRange) {
  const os::TempDir dir;
  Deposits deposits;
  ASSERT_TRUE(deposits.add("abcd2345", list(stream(), file(dir))));
  EXPECT_TRUE(deposits.find("abcd2345")->range);
}

TEST(Deposits, TakeOneForEachId) {
  Deposits deposits;
  ASSERT_TRUE(deposits.add("abcd2345", list(stream())));
  const Status again = deposits.add("abcd2345", list(stream()));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::exists);
}

TEST(Deposits, TakeNothingButStreamsAndLocks) {
  const os::TempDir dir;
  Deposits deposits;
  EXPECT_FALSE(deposits.add("abcd2345", {}));
  EXPECT_FALSE(deposits.add("abcd2345", list(packets())));
  EXPECT_FALSE(deposits.add("abcd2345", list(file(dir))));
  EXPECT_FALSE(deposits.add("abcd2345", list(stream(), stream())));
  EXPECT_FALSE(deposits.add("abcd2345", list(stream(), file(dir), file(dir))));
  EXPECT_FALSE(deposits.add("../x", list(stream())));
  EXPECT_FALSE(deposits.add("", list(stream())));
  auto pipe = os::pipe2();
  ASSERT_TRUE(pipe);
  EXPECT_FALSE(deposits.add("abcd2345", list(std::move(pipe->read))));
  const auto address = os::UnixAddress::at_path((dir.path() / "s").string());
  ASSERT_TRUE(address);
  auto listener = os::unix_listen(*address, os::SocketType::stream);
  ASSERT_TRUE(listener);
  EXPECT_FALSE(deposits.add("abcd2345", list(*std::move(listener))));
  EXPECT_TRUE(deposits.all().empty());
}

os::Fd inet(int type, bool listens) {
  os::Fd socket{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
  if (listens) EXPECT_EQ(::listen(socket.get(), 1), 0);
  return socket;
}

std::vector<os::Fd> with_sockets(std::vector<os::Fd> fds, os::Fd tcp, os::Fd udp) {
  fds.push_back(std::move(tcp));
  fds.push_back(std::move(udp));
  return fds;
}

TEST(Deposits, TakeTheSocketsOfANetwork) {
  const os::TempDir dir;
  auto bare = list(stream(), file(dir));
  auto none = take_sockets(bare);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->tcp || none->udp);
  EXPECT_EQ(bare.size(), 2U);

  auto fds = with_sockets(list(stream()), inet(SOCK_STREAM, true), inet(SOCK_DGRAM, false));
  auto taken = take_sockets(fds);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->tcp && taken->udp);
  EXPECT_EQ(fds.size(), 1U);
}

TEST(Deposits, RefuseOtherSockets) {
  const os::TempDir dir;
  std::vector<std::vector<os::Fd>> wrong;
  wrong.push_back(with_sockets(list(stream()), inet(SOCK_STREAM, false), inet(SOCK_DGRAM, false)));
  wrong.push_back(with_sockets(list(stream()), inet(SOCK_DGRAM, false), inet(SOCK_STREAM, true)));
  wrong.push_back(with_sockets(list(stream()), stream(), inet(SOCK_DGRAM, false)));
  wrong.push_back(with_sockets(list(stream()), inet(SOCK_STREAM, true), file(dir)));
  for (auto& fds : wrong) {
    const auto taken = take_sockets(fds);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code(), Errc::invalid);
  }
}

}  // namespace
}  // namespace cordon::launcher
