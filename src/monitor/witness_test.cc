// SPDX-License-Identifier: Apache-2.0
#include "monitor/witness.h"

#include <array>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/filter/filter.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/socket.h"

namespace cordon::monitor {
namespace {

// What a process under a filter that tells does, and what is told of it.
std::vector<Intent> told_of_child(const std::function<int()>& body, std::uint64_t per_second,
                                  recorder::Untold* untold = nullptr) {
  auto pair = os::socketpair(os::SocketType::seqpacket);
  auto witness = Witness::start(std::move(pair->one), {.per_second = per_second});
  auto child = os::Child::start({}, [&] {
    if (!os::set_no_new_privs()) return 100;
    auto listener =
        os::seccomp_load_with_listener(os::filter_program(os::FilterProfile::compat_notify));
    if (!listener) return 101;
    const std::array<const os::Fd*, 1> beside{&*listener};
    const std::array<std::byte, 1> word{};
    if (!os::send(pair->two, word, beside)) return 102;
    *listener = os::Fd{};
    pair->two = os::Fd{};
    return body();
  });
  pair->two = os::Fd{};
  const auto end = std::move(*child).wait();
  EXPECT_EQ(end->value, 0);
  (*witness)->join();
  const Witness::News news = (*witness)->take();
  EXPECT_TRUE(news.tree);
  if (untold != nullptr) *untold = news.untold;
  return news.intents;
}

TEST(Witness, IsToldWhatIsIntendedAndLetsItGoOn) {
  const auto told = told_of_child(
      [] {
        if (::chdir("/tmp") != 0) return 1;
        if (::openat(AT_FDCWD, "none/x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0) return 2;
        if (::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return 3;  // intends nothing
        if (::rename("none/a", "/none/b") == 0) return 4;
        char name[] = "true";
        char word[] = "a b";
        char* const arguments[] = {&name[0], &word[0], nullptr};
        ::execve("/bin/true", &arguments[0], nullptr);
        return 5;
      },
      1000);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].of, CallKind::Of::open);
  EXPECT_EQ(told[0].path.used, "none/x");
  EXPECT_EQ(told[0].path.base, "/tmp");
  EXPECT_EQ(told[0].flags & 3U, 1U);
  EXPECT_NE(told[0].pid, 0U);
  EXPECT_EQ(told[1].path.used, "none/a");
  ASSERT_TRUE(told[1].second);
  EXPECT_EQ(told[1].second.value_or(IntendedPath{}).used, "/none/b");
  EXPECT_EQ(told[2].of, CallKind::Of::exec);
  EXPECT_EQ(told[2].path.used, "/bin/true");
  EXPECT_EQ(told[2].texts, (std::vector<std::string>{"true", "a b"}));
  EXPECT_EQ(told[2].directory, "/tmp");
}

TEST(Witness, CountsWhatIsMoreThanASecondTakes) {
  recorder::Untold untold;
  const auto told = told_of_child(
      [] {
        for (int i = 0; i < 50; ++i) {
          if (::mkdir("/none/d", 0700) == 0) return 1;
        }
        return 0;
      },
      10, &untold);
  EXPECT_GE(told.size(), 10U);
  EXPECT_EQ(told.size() + untold.over, 50U);
}

TEST(Witness, TakesABadPointerForNothing) {
  const auto told = told_of_child(
      [] {
        return ::syscall(SYS_mkdir, 8, 0700) == 0 ? 1 : 0;  // no memory of its own
      },
      10);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].path.used, "");
}

}  // namespace
}  // namespace cordon::monitor
