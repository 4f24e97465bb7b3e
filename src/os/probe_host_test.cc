// SPDX-License-Identifier: Apache-2.0
// What the probe does to the process that calls it. What it finds is the matter of tests/doctor.
#include "os/probe_host.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <signal.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

std::vector<std::string> names_of_descriptors() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

TEST(ProbeHost, LeavesNoDescriptorAndNoChild) {
  const auto before = names_of_descriptors();
  static_cast<void>(probe_host({}));
  EXPECT_EQ(names_of_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ProbeHost, GivesSignalsBack) {
  sigset_t before;
  sigset_t after;
  ::sigprocmask(SIG_BLOCK, nullptr, &before);
  static_cast<void>(probe_host({}));
  ::sigprocmask(SIG_BLOCK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal) {
    EXPECT_EQ(::sigismember(&before, signal), ::sigismember(&after, signal)) << signal;
  }
}

TEST(ProbeHost, SaysOfEveryFactThatIsNotOkWhy) {
  const HostFacts host = probe_host({});
  for (const Feature feature : all_features()) {
    if (!host.has(feature)) EXPECT_NE(host[feature].detail, "") << to_string(feature);
  }
}

TEST(ProbeHost, BlocksWhatHasNoTime) {
  const HostFacts host = probe_host({.limit = std::chrono::milliseconds{0}});
  EXPECT_EQ(host[Feature::namespaces].support, Support::blocked);
  EXPECT_EQ(host[Feature::namespaces].detail, "did not answer within 0 ms");
  EXPECT_EQ(level_of(host).level, Level::none);
}

}  // namespace
}  // namespace cordon::os
