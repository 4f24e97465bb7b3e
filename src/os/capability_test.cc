// SPDX-License-Identifier: Apache-2.0
#include "os/capability.h"

#include <cerrno>
#include <linux/capability.h>
#include <sys/mount.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/namespace.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// Full capabilities over something: as root where we are, else in a user namespace of our own.
Status gain_capabilities() {
  if (::geteuid() == 0) return {};
  return unshare(Ns::user);
}

std::string reason_to_skip() {
  const std::string said = in_child([] { return outcome(gain_capabilities()); });
  return said == "ok" ? "" : "no capabilities to give up: " + said;
}

std::string describe(const Result<CapabilityState>& state) {
  if (!state) return outcome(state);
  return "e=" + to_string(state->effective) + " p=" + to_string(state->permitted) +
         " i=" + to_string(state->inheritable) + " b=" + to_string(state->bounding) +
         " a=" + to_string(state->ambient);
}

TEST(CapabilitySet, IsNamedAsPeopleKnowIt) {
  EXPECT_EQ(to_string(CapabilitySet{}), "");
  EXPECT_EQ(to_string(CapabilitySet{CAP_SETUID, CAP_KILL}), "cap_kill,cap_setuid");
  EXPECT_EQ(to_string(CapabilitySet{63}), "63");
}

TEST(Capability, KeepExactlyLeavesThatAndNothingElse) {
  if (const auto reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(in_child([] {
              if (const auto done = gain_capabilities(); !done) return outcome(done);
              if (const auto done = keep_exactly({CAP_KILL, CAP_SETUID}); !done) {
                return outcome(done);
              }
              return describe(read_capabilities());
            }),
            "e=cap_kill,cap_setuid p=cap_kill,cap_setuid i= b=cap_kill,cap_setuid a=");
  EXPECT_EQ(in_child([] {
              if (const auto done = gain_capabilities(); !done) return outcome(done);
              if (const auto done = keep_exactly({}); !done) return outcome(done);
              return describe(read_capabilities());
            }),
            "e= p= i= b= a=");
}

TEST(Capability, WhatIsHeldByOneCallLeavesTheBoundingSet) {
  if (const auto reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(in_child([] {
              if (const auto done = gain_capabilities(); !done) return outcome(done);
              if (const auto done = drop_bounding({CAP_CHOWN, CAP_KILL}); !done) {
                return outcome(done);
              }
              if (const auto done = hold_exactly({CAP_KILL}); !done) return outcome(done);
              const auto held = held_capabilities();
              if (!held) return outcome(held);
              return to_string(held->effective) + to_string(held->permitted) +
                     to_string(held->inheritable) + " " + describe(read_capabilities());
            }),
            "cap_killcap_kill e=cap_kill p=cap_kill i= b=cap_chown,cap_kill a=");
}

TEST(Capability, KeepNoneLeavesNothingForWhoeverCalls) {
  EXPECT_EQ(in_child([] {
              // Twice: the second time without the right to take from the bounding set.
              for (int i = 0; i < 2; ++i) {
                if (const auto done = keep_none(); !done) return outcome(done);
              }
              const auto state = read_capabilities();
              if (!state) return outcome(state);
              const bool none = state->effective.empty() && state->permitted.empty() &&
                                state->inheritable.empty() && state->ambient.empty();
              return std::string{none ? "none" : "some"};
            }),
            "none");
}

TEST(Capability, WhatIsGivenUpCannotBeUsedNorTakenBack) {
  if (const auto reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  const auto rename_host = [](bool drop) {
    return in_child([&] {
      if (const auto done = gain_capabilities(); !done) return outcome(done);
      if (const auto done = unshare(Ns::uts); !done) return outcome(done);
      if (drop) {
        if (const auto done = keep_exactly({CAP_KILL}); !done) return outcome(done);
        if (keep_exactly({CAP_KILL, CAP_SYS_ADMIN})) return std::string{"taken back"};
      }
      return outcome(sethostname("x"));
    });
  };
  EXPECT_EQ(rename_host(true), "x: sethostname: Operation not permitted");
  EXPECT_EQ(rename_host(false), "ok");
}

TEST(Capability, KeepExactlyRefusesWhatTheCallerDoesNotHave) {
  if (const auto reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(in_child([] {
              if (const auto done = gain_capabilities(); !done) return outcome(done);
              if (const auto done = keep_exactly({CAP_KILL}); !done) return outcome(done);
              return outcome(keep_exactly({CAP_KILL, CAP_CHOWN}));
            }),
            "cap_chown,cap_kill: capset: Operation not permitted");
}

TEST(Capability, DroppingFromTheBoundingSetNeedsTheRight) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "setresuid";
              const auto state = read_capabilities();
              if (!state) return outcome(state);
              if (state->bounding.empty()) return "nothing to drop";
              const auto done = drop_bounding({});
              return done ? "dropped" : std::to_string(done.error().cause().value());
            }),
            std::to_string(EPERM));
}

TEST(Capability, KeepCapabilitiesSurvivesTheChangeOfIds) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: changes to another user";
  const auto permitted_after = [](bool keep) {
    return in_child([&]() -> std::string {
      if (const auto done = keep_exactly({CAP_KILL, CAP_SETUID}); !done) return outcome(done);
      if (const auto done = set_keep_capabilities(keep); !done) return outcome(done);
      if (::setresuid(65534, 65534, 65534) != 0) return "setresuid";
      const auto state = read_capabilities();
      return state ? to_string(state->permitted) : outcome(state);
    });
  };
  EXPECT_EQ(permitted_after(true), "cap_kill,cap_setuid");
  EXPECT_EQ(permitted_after(false), "");
}

}  // namespace
}  // namespace cordon::os
