// SPDX-License-Identifier: Apache-2.0
#include "os/fault_point.h"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/process.h"

namespace cordon::os {
namespace {

class FaultPoint : public testing::Test {
 protected:
  void SetUp() override {
    const int made = ::mkstemp(path_.data());
    ASSERT_GE(made, 0);
    ::close(made);
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  // How a process ends that comes by "a.b.c".
  ExitStatus passing(const std::string& variable) {
    auto child = Child::start({}, [&] {
      arm_fault_point(variable.c_str());
      fault_point("a.b.c");
      return 7;
    });
    EXPECT_TRUE(child);
    const auto ended = std::move(*child).wait();
    return ended ? *ended : ExitStatus{.value = -1};
  }
  bool is_there() const { return ::access(path_.c_str(), F_OK) == 0; }

  std::string path_ = testing::TempDir() + "cordon-fault-XXXXXX";
};

TEST_F(FaultPoint, KillsTheFirstThatComes) {
  const ExitStatus first = passing("a.b.c " + path_);
  EXPECT_EQ(first.kind, ExitStatus::Kind::signaled);
  EXPECT_EQ(first.value, SIGKILL);
  EXPECT_FALSE(is_there());
  EXPECT_EQ(passing("a.b.c " + path_).value, 7);
}

TEST_F(FaultPoint, LetsAllOthersPass) {
  for (const std::string& variable : {"a.b.d " + path_, "a.b " + path_, std::string{"a.b.c"},
                                      std::string{}, "a.b.c " + path_ + ".other"}) {
    EXPECT_EQ(passing(variable).value, 7) << variable;
  }
  EXPECT_TRUE(is_there());
}

}  // namespace
}  // namespace cordon::os
