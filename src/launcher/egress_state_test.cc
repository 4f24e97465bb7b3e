// SPDX-License-Identifier: Apache-2.0
#include "launcher/egress_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/memfd.h"
#include "os/test_support.h"

namespace cordon::launcher {
namespace {

Errc refusal_of(const os::Fd& hold) {
  const auto opened = open_egress_state(hold);
  return opened ? Errc::internal : opened.error().code();
}

TEST(EgressState, IsWhatItWasBehindAHold) {
  auto state = make_egress_state();
  ASSERT_TRUE(state);
  ASSERT_EQ(::write(state->get(), "kept", 4), 4);
  auto hold = hold_egress_state(*state);
  ASSERT_TRUE(hold);
  // Whoever holds it has neither its bytes nor a way to them.
  char byte = 0;
  EXPECT_EQ(::pread(hold->get(), &byte, 1, 0), -1);
  EXPECT_EQ(::fchmod(hold->get(), 0666), -1);
  EXPECT_EQ(::mmap(nullptr, 4, PROT_READ, MAP_SHARED, hold->get(), 0), MAP_FAILED);
  // The launcher that made it is gone.
  *state = os::Fd{};
  auto again = open_egress_state(*hold);
  ASSERT_TRUE(again) << again.error().text();
  char read[5] = {};
  EXPECT_EQ(::pread(again->get(), read, 4, 0), 4);
  EXPECT_STREQ(read, "kept");
  EXPECT_EQ(::pwrite(again->get(), "K", 1, 0), 1);
}

TEST(EgressState, IsNoFileThatANodeCanName) {
  const os::TempDir dir;
  auto file = os::openat(dir.fd(), "secret", O_RDWR | O_CREAT, 0600);
  ASSERT_TRUE(file);
  EXPECT_EQ(refusal_of(*file), Errc::invalid);
  auto hold = os::openat(dir.fd(), "secret", O_PATH);
  ASSERT_TRUE(hold);
  EXPECT_EQ(refusal_of(*hold), Errc::invalid);
  EXPECT_EQ(refusal_of(dir.fd()), Errc::invalid);
  auto device = os::openat(os::at_cwd(), "/dev/null", O_PATH);
  ASSERT_TRUE(device);
  EXPECT_EQ(refusal_of(*device), Errc::invalid);
  // In memory, like ours, and with a name.
  const std::string name = "/cordon-egress-state-test-" + std::to_string(::getpid());
  const os::Fd shared{::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600)};
  ASSERT_TRUE(shared);
  EXPECT_EQ(refusal_of(shared), Errc::invalid);
  // Nor one that had a name once.
  ::shm_unlink(name.c_str());
  EXPECT_EQ(refusal_of(shared), Errc::invalid);
}

TEST(EgressState, IsNoMemoryOfAnotherKind) {
  auto open = os::memfd_create("other");
  ASSERT_TRUE(open);
  ASSERT_EQ(::fchmod(open->get(), 0666), 0);
  EXPECT_EQ(refusal_of(*open), Errc::invalid);
  if (::geteuid() != 0) GTEST_SKIP() << "another's: needs root";
  auto others = make_egress_state();
  ASSERT_TRUE(others);
  ASSERT_EQ(::fchown(others->get(), 65534, 65534), 0);
  EXPECT_EQ(refusal_of(*others), Errc::invalid);
}

}  // namespace
}  // namespace cordon::launcher
