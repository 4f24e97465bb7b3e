// SPDX-License-Identifier: Apache-2.0
#include "os/rlimit.h"

#include <cerrno>
#include <signal.h>
#include <string>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

TEST(Rlimit, HoldsWhatIsSet) {
  const TempDir dir;
  const auto write_under = [&](std::uint64_t limit, const char* name) {
    return in_child([&] {
      if (const auto done = set_rlimit(Rlimit::file_size, {limit, limit}); !done) {
        return outcome(done);
      }
      return outcome(create_file(dir.fd(), name, std::string(200, 'x'), 0600));
    });
  };
  EXPECT_EQ(write_under(100, "small"), "signal " + std::to_string(SIGXFSZ));
  EXPECT_EQ(write_under(1000, "large"), "ok");
}

TEST(Rlimit, ReadsBackSoftAndHard) {
  EXPECT_EQ(in_child([]() -> std::string {
              const RlimitValue wanted{.soft = 5, .hard = 9};
              if (const auto done = set_rlimit(Rlimit::core_size, wanted); !done) {
                return outcome(done);
              }
              const auto got = get_rlimit(Rlimit::core_size);
              return got && *got == wanted ? "same" : "another";
            }),
            "same");
}

TEST(Rlimit, TakesNothingForNoLimit) {
  const auto hard = get_rlimit(Rlimit::cpu_seconds);
  ASSERT_TRUE(hard);
  if (hard->hard) GTEST_SKIP() << "the hard limit of processor time is finite here";
  EXPECT_EQ(outcome(set_rlimit(Rlimit::cpu_seconds, {})), "ok");
  EXPECT_EQ(*get_rlimit(Rlimit::cpu_seconds), RlimitValue{});
}

TEST(Rlimit, RefusesASoftLimitAboveTheHardOne) {
  const auto refused = set_rlimit(Rlimit::core_size, {.soft = 2, .hard = 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::invalid);
}

TEST(Rlimit, HardLimitIsNotRaisedAgainWithoutTheRight) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "setresuid";
              if (const auto done = set_rlimit(Rlimit::core_size, {1, 1}); !done) {
                return outcome(done);
              }
              const auto raised = set_rlimit(Rlimit::core_size, {2, 2});
              return raised ? "raised" : std::to_string(raised.error().cause().value());
            }),
            std::to_string(EPERM));
}

}  // namespace
}  // namespace cordon::os
