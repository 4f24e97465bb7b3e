// SPDX-License-Identifier: Apache-2.0
#include "launcher/deposits.h"

#include <array>

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

}  // namespace
}  // namespace cordon::launcher
