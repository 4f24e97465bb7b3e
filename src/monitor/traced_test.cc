// SPDX-License-Identifier: Apache-2.0
#include "monitor/traced.h"

#include <cerrno>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "monitor/classes.h"
#include "monitor/told.h"
#include "record/audit_event.h"

namespace cordon::monitor {
namespace {

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
using frame::TracedAct;
using frame::TracedKind;

template <class Event>
Event told(const TracedAct& act) {
  const auto event = told_of(seen_of(act), {});
  if (!event || !std::holds_alternative<Event>(*event)) {
    ADD_FAILURE() << "not told so";
    return {};
  }
  return std::get<Event>(*event);
}

TEST(Traced, AProgramIsToldAsTheKernelTellsIt) {
  const auto started = told<ProgramStarted>({.kind = TracedKind::exec,
                                             .call = SYS_execve,
                                             .pid = 7,
                                             .parent = 2,
                                             .command = "make",
                                             .directory = "/work",
                                             .path = "./make",
                                             .arguments = {"make", "all"}});
  EXPECT_EQ(started.pid, 7U);
  EXPECT_EQ(started.parent, 2U);
  EXPECT_EQ(started.program, "./make");
  EXPECT_EQ(started.arguments, (std::vector<std::string>{"make", "all"}));
  EXPECT_EQ(started.directory, "/work");
}

TEST(Traced, AFileIsToldWhereItsLettersLead) {
  TracedAct act{.kind = TracedKind::open,
                .call = SYS_openat,
                .pid = 7,
                .command = "sh",
                .directory = "/work",
                .path = "a/../made",
                .flags = 01101};
  EXPECT_EQ(told<FileTouched>(act).path, "/work/made");
  EXPECT_EQ(told<FileTouched>(act).act, "write");
  act.base = "/tmp";
  EXPECT_EQ(told<FileTouched>(act).path, "/tmp/made");
  act.path = "/var/x";
  EXPECT_EQ(told<FileTouched>(act).path, "/var/x");
}

TEST(Traced, AConnectionIsToldWithWhatBecameOfIt) {
  const auto tried = told<ConnectTried>({.kind = TracedKind::connect,
                                         .call = SYS_connect,
                                         .pid = 7,
                                         .error_number = ECONNREFUSED,
                                         .command = "nc",
                                         .path = std::string("\x02\0\x01\xbb\x7f\0\0\x01", 8)});
  EXPECT_EQ(tried.address, "127.0.0.1");
  EXPECT_EQ(tried.port, 443);
  EXPECT_EQ(tried.error, "ECONNREFUSED");
}

TEST(Traced, IsOfTheClassThatWasAskedFor) {
  const Seen exec = seen_of({.kind = TracedKind::exec, .path = "/bin/a"});
  const Seen refused = seen_of({.kind = TracedKind::exec, .error_number = EACCES});
  const Seen written = seen_of({.kind = TracedKind::open, .path = "/a", .flags = 1});
  const Seen failed = seen_of({.kind = TracedKind::connect, .error_number = ECONNREFUSED});
  const Classes all = bit_of(Class::exec) | bit_of(Class::writes) | bit_of(Class::connects) |
                      bit_of(Class::refused);
  for (const auto& [seen, of] :
       {std::pair{exec, Class::exec}, std::pair{refused, Class::refused},
        std::pair{written, Class::writes}, std::pair{failed, Class::connects}}) {
    EXPECT_TRUE(is_of(bit_of(of), seen));
    EXPECT_FALSE(is_of(all & ~bit_of(of), seen));
  }
}

TEST(Traced, WhatIsOnlyReadIsOfAClassOfItsOwn) {
  const Seen read{
      .what = SeenFile{.used = ".env", .resolved = "/w/.env", .second = {}, .is_opened = true}};
  EXPECT_TRUE(is_of(bit_of(Class::sensitive), read));
  EXPECT_FALSE(is_of(bit_of(Class::writes), read));
}

TEST(Traced, NoErrorIsTooLargeToBeTold) {
  EXPECT_EQ(seen_of({.error_number = 0xffffffffU}).result, -4095);
}

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace
}  // namespace cordon::monitor
