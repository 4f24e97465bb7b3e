// SPDX-License-Identifier: Apache-2.0
#include "os/namespace.h"

#include <array>
#include <cerrno>
#include <sys/utsname.h>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::os {
namespace {

std::string own_hostname() {
  utsname names{};
  ::uname(&names);
  return &names.nodename[0];
}

// Why this host lets us make no user namespace, or empty.
std::string no_user_namespaces() {
  const std::string said = in_child([] { return outcome(unshare(Ns::user)); });
  return said == "ok" ? "" : "no user namespaces: " + said;
}

TEST(NsSet, HoldsTheKindsItWasGiven) {
  constexpr NsSet kSome{Ns::user, Ns::net};
  static_assert(kSome.has(Ns::user) && kSome.has(Ns::net) && !kSome.has(Ns::pid));
  static_assert(NsSet{}.empty() && !kSome.empty());
  EXPECT_EQ(kSome.flags(), 0x50000000U);
}

TEST(Namespace, UnshareMovesTheCallerIntoANewOne) {
  if (const auto reason = no_user_namespaces(); !reason.empty()) GTEST_SKIP() << reason;
  const auto moved = [](NsSet kinds) {
    return in_child([&]() -> std::string {
      const auto before = open_ns(Ns::net);
      if (const auto done = unshare(kinds); !done) return outcome(done);
      const auto after = open_ns(Ns::net);
      if (!before || !after) return "no fd";
      return *ns_id(*before) == *ns_id(*after) ? "same" : "another";
    });
  };
  EXPECT_EQ(moved({Ns::user, Ns::net}), "another");
  EXPECT_EQ(moved({Ns::user}), "same");
}

TEST(Namespace, HostNameStaysInsideItsNamespace) {
  if (const auto reason = no_user_namespaces(); !reason.empty()) GTEST_SKIP() << reason;
  const std::string outside = own_hostname();
  EXPECT_EQ(in_child([] {
              if (const auto done = unshare({Ns::user, Ns::uts}); !done) return outcome(done);
              if (const auto done = sethostname("inside"); !done) return outcome(done);
              return own_hostname();
            }),
            "inside");
  EXPECT_EQ(own_hostname(), outside);
}

TEST(Namespace, SetnsRefusesANamespaceOfAnotherKind) {
  const auto net = open_ns(Ns::net);
  ASSERT_TRUE(net);
  const auto wrong = setns(*net, Ns::uts);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(), "uts: setns: Invalid argument");
}

TEST(Namespace, SetnsEntersTheNamespaceOfAnother) {
  if (const auto reason = no_user_namespaces(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(in_child([]() -> std::string {
              // One user namespace for both, so that the second process may enter the first's.
              if (const auto done = unshare({Ns::user}); !done) return outcome(done);
              const auto outer = open_ns(Ns::net);
              if (const auto done = unshare({Ns::net}); !done) return outcome(done);
              const auto inner = open_ns(Ns::net);
              if (!outer || !inner) return "no fd";
              if (const auto done = unshare({Ns::net}); !done) return outcome(done);
              if (const auto done = setns(*inner, Ns::net); !done) return outcome(done);
              const auto now = open_ns(Ns::net);
              return now && *ns_id(*now) == *ns_id(*inner) ? "entered" : "elsewhere";
            }),
            "entered");
}

TEST(Namespace, OfAProcessIsNamedByItsPid) {
  const auto own = open_ns(Ns::ipc);
  const auto same = open_ns(Ns::ipc, ::getpid());
  ASSERT_TRUE(own && same);
  EXPECT_EQ(*ns_id(*own), *ns_id(*same));
  const auto none = open_ns(Ns::ipc, 0x7FFFFFFF);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::not_found);
}

}  // namespace
}  // namespace cordon::os
