// SPDX-License-Identifier: Apache-2.0
#include "os/landlock.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/kernel_abi.h"
#include "os/prctl.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

constexpr int kNewestAbi = 7;

TEST(LandlockRights, GrowWithTheAbi) {
  EXPECT_TRUE(landlock_rights_of(0).empty());
  EXPECT_EQ(landlock_rights_of(1).fs, 0x1FFFU);
  EXPECT_EQ(landlock_rights_of(2).fs, 0x3FFFU);
  EXPECT_EQ(landlock_rights_of(3).fs, 0x7FFFU);
  EXPECT_EQ(landlock_rights_of(3).net, 0U);
  EXPECT_EQ(landlock_rights_of(4).net, 3U);
  EXPECT_EQ(landlock_rights_of(5).fs, 0xFFFFU);
  EXPECT_EQ(landlock_rights_of(5).scopes, 0U);
  EXPECT_EQ(landlock_rights_of(6).scopes, 3U);
  EXPECT_EQ(landlock_rights_of(7), landlock_rights_of(6)) << "7 adds only log flags";
}

TEST(LandlockRights, AreNamedForReports) {
  EXPECT_TRUE(names_of({}).empty());
  const LandlockRights some{
      .fs = abi::kFsTruncate, .net = abi::kNetBindTcp, .scopes = abi::kScopeSignal};
  const std::vector<std::string_view> expected{"fs_truncate", "net_bind_tcp", "scope_signal"};
  EXPECT_EQ(names_of(some), expected);
}

class Landlock : public testing::Test {
 protected:
  void SetUp() override {
    const auto version = landlock_abi();
    if (!version) GTEST_SKIP() << "no Landlock: " << version.error().text();
    abi_ = std::min(*version, kNewestAbi);
  }

  // Restricts the (child) process to `rights` on the test's directory alone.
  Status confine(const LandlockRights& handled, std::uint64_t rights) const {
    TRY(const auto ruleset, LandlockRuleset::create(handled, abi_));
    TRY_DO(ruleset.add_path(dir_.fd(), rights));
    TRY_DO(set_no_new_privs());
    return ruleset.restrict_self();
  }

  int abi_ = 0;
  TempDir dir_;
};

TEST_F(Landlock, ReportsTheRightsThatAnOlderAbiLacks) {
  const auto newest = LandlockRuleset::create(landlock_rights_of(abi_), abi_);
  ASSERT_TRUE(newest) << newest.error().text();
  EXPECT_TRUE(newest->lacking().empty());

  const auto oldest = LandlockRuleset::create(landlock_rights_of(kNewestAbi), 1);
  ASSERT_TRUE(oldest) << oldest.error().text();
  EXPECT_EQ(oldest->handled(), landlock_rights_of(1));
  EXPECT_EQ(oldest->lacking().fs, abi::kFsRefer | abi::kFsTruncate | abi::kFsIoctlDev);
  EXPECT_EQ(oldest->lacking().net, abi::kNetBindTcp | abi::kNetConnectTcp);
  EXPECT_EQ(oldest->lacking().scopes, abi::kScopeAbstractUnixSocket | abi::kScopeSignal);
}

TEST_F(Landlock, DeniesTheWriteThatNoRuleGrants) {
  const auto write = [&] { return outcome(create_file(dir_.fd(), "f", "x", 0600)); };
  const LandlockRights all{.fs = landlock_rights_of(abi_).fs};
  EXPECT_EQ(in_child([&] {
              if (const auto done = confine(all, abi::kFsReadFile); !done) return outcome(done);
              return write();
            }),
            "f: openat: Permission denied");
  EXPECT_EQ(in_child([&] {
              const auto granted = abi::kFsReadFile | abi::kFsWriteFile | abi::kFsMakeReg;
              if (const auto done = confine(all, granted); !done) return outcome(done);
              return write();
            }),
            "ok");
}

TEST_F(Landlock, DeniesAllOutsideTheGrantedDirectory) {
  const auto read = [] { return outcome(read_file(at_cwd(), "/etc/passwd")); };
  EXPECT_EQ(in_child([&] {
              const LandlockRights all{.fs = landlock_rights_of(abi_).fs};
              if (const auto done = confine(all, all.fs); !done) return outcome(done);
              return read();
            }),
            "/etc/passwd: openat: Permission denied");
  EXPECT_EQ(in_child(read), "ok");
}

TEST_F(Landlock, NeedsNoNewPrivsOrPrivilege) {
  EXPECT_EQ(in_child([&]() -> std::string {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "setresuid";
              const auto set = LandlockRuleset::create({.fs = abi::kFsExecute}, abi_);
              return set ? outcome(set->restrict_self()) : outcome(set);
            }),
            "landlock_restrict_self: Operation not permitted");
}

TEST_F(Landlock, RefusesDirectoryRightsOnAFile) {
  ASSERT_TRUE(create_file(dir_.fd(), "f", "", 0600));
  const auto file = openat(dir_.fd(), "f", O_PATH);
  ASSERT_TRUE(file);
  const auto set = LandlockRuleset::create({.fs = landlock_rights_of(abi_).fs}, abi_);
  ASSERT_TRUE(set);
  const auto wrong = set->add_path(*file, abi::kFsReadDir);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().cause().value(), EINVAL);
  EXPECT_TRUE(set->add_path(*file, landlock_file_rights()));
}

TEST_F(Landlock, LeavesOutRightsThatItDoesNotHandleAndRefusesEmptyRules) {
  const auto set = LandlockRuleset::create({.fs = abi::kFsWriteFile}, abi_);
  ASSERT_TRUE(set);
  EXPECT_TRUE(set->add_path(dir_.fd(), abi::kFsReadFile));
  EXPECT_FALSE(set->add_path(dir_.fd(), 0));
}

std::string bind_to(std::uint16_t port) {
  const Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return "ok";
  }
  return errno == EACCES ? "EACCES" : "another error";
}

TEST_F(Landlock, DeniesPortsThatNoRuleNames) {
  if (abi_ < 4) GTEST_SKIP() << "Landlock ABI " << abi_ << " knows no ports";
  const auto attempt = [&](std::uint16_t granted) {
    return in_child([&] {
      const auto set = LandlockRuleset::create({.net = abi::kNetBindTcp}, abi_);
      if (!set) return outcome(set);
      if (const auto done = set->add_port(granted, abi::kNetBindTcp); !done) return outcome(done);
      if (const auto done = set_no_new_privs(); !done) return outcome(done);
      if (const auto done = set->restrict_self(); !done) return outcome(done);
      return bind_to(0);
    });
  };
  EXPECT_EQ(attempt(9), "EACCES");
  EXPECT_EQ(attempt(0), "ok");
}

TEST_F(Landlock, ScopesKeepSignalsInside) {
  if (abi_ < 6) GTEST_SKIP() << "Landlock ABI " << abi_ << " has no scopes";
  const auto signal_parent = [&](std::uint64_t scopes) {
    return in_child([&]() -> std::string {
      const auto set = LandlockRuleset::create({.fs = abi::kFsMakeChar, .scopes = scopes}, abi_);
      if (!set) return outcome(set);
      if (const auto done = set_no_new_privs(); !done) return outcome(done);
      if (const auto done = set->restrict_self(); !done) return outcome(done);
      return ::kill(::getppid(), 0) == 0 ? "ok" : errno == EPERM ? "EPERM" : "another error";
    });
  };
  EXPECT_EQ(signal_parent(abi::kScopeSignal), "EPERM");
  EXPECT_EQ(signal_parent(0), "ok");
}

TEST_F(Landlock, TakesLogFlagsFromAbiSevenAndDropsThemBefore) {
  for (const int version : {std::min(abi_, 6), abi_}) {
    EXPECT_EQ(in_child([&] {
                const auto set = LandlockRuleset::create({.fs = abi::kFsMakeChar}, version);
                if (!set) return outcome(set);
                if (const auto done = set_no_new_privs(); !done) return outcome(done);
                return outcome(set->restrict_self(abi::kRestrictLogSameExecOff));
              }),
              "ok");
  }
}

}  // namespace
}  // namespace cordon::os
