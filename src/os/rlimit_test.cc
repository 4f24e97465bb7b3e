// SPDX-License-Identifier: Apache-2.0
#include "os/rlimit.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

TEST(Rlimit, HoldsWhatIsSet) {
  const auto many_pipes = [](std::uint64_t limit) {
    return in_child([&]() -> std::string {
      if (const auto done = set_rlimit(Rlimit::open_files, {limit, limit}); !done) {
        return outcome(done);
      }
      std::vector<Pipe> pipes;
      for (int made = 0; made < 20; ++made) {
        auto pipe = pipe2();
        if (!pipe) return pipe.error().code() == Errc::exhausted ? "exhausted" : outcome(pipe);
        pipes.push_back(*std::move(pipe));
      }
      return "ok";
    });
  };
  EXPECT_EQ(many_pipes(24), "exhausted");
  EXPECT_EQ(many_pipes(128), "ok");
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
