// SPDX-License-Identifier: Apache-2.0
#include "monitor/told.h"

#include <cerrno>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

namespace cordon::monitor {
namespace {

using os::FilterProfile;

Seen call(long number, int error, std::array<std::uint64_t, 6> arguments = {}) {
  return {.command = "tool",
          .call = static_cast<std::uint32_t>(number),
          .result = -error,
          .arguments = arguments,
          .what = SeenCall{}};
}

std::optional<Denial> denial(const Seen& seen, FilterProfile filter = FilterProfile::strict) {
  const auto told = told_of(seen, {.filter = filter});
  if (!told) return std::nullopt;
  return std::get<ActRefused>(*told).denial;
}

TEST(Told, ARefusalOfTheFilterIsOne) {
  const Denial mount = denial(call(SYS_mount, EPERM)).value_or(Denial{});
  EXPECT_EQ(mount.code, "CORDON-SYSCALL");
  EXPECT_EQ(mount.tried, "mount by tool");
  EXPECT_EQ(mount.fix, "") << "no profile allows it";
  EXPECT_NE(mount.why.find("strict"), std::string::npos);
  EXPECT_TRUE(denial(call(SYS_socket, EAFNOSUPPORT, {AF_VSOCK, SOCK_STREAM, 0})));
  EXPECT_TRUE(denial(call(SYS_socket, EPROTONOSUPPORT, {AF_NETLINK, SOCK_RAW, 9})));
}

// The filter is asked again: who got the errno from the kernel itself is not told of.
TEST(Told, AnErrorThatTheFilterDoesNotGiveIsNone) {
  EXPECT_FALSE(denial(call(SYS_kill, EPERM, {1, 9})));
  EXPECT_FALSE(denial(call(SYS_mount, EBUSY)));
  EXPECT_FALSE(denial(call(SYS_socket, EAFNOSUPPORT, {AF_INET, SOCK_STREAM, 0})));
  EXPECT_FALSE(denial(call(SYS_fchmod, EPERM, {3, 0644})));
  EXPECT_FALSE(denial(call(SYS_mount, 0))) << "it went well";
}

TEST(Told, SaysWhenTheOtherProfileHelps) {
  const Seen change = call(SYS_setuid, EPERM, {0});
  ASSERT_TRUE(denial(change));
  EXPECT_FALSE(denial(change, FilterProfile::compat)) << "the kernel's own word there";
  EXPECT_EQ(denial(change).value_or(Denial{}).fix, "syscalls.profile = \"compat\" in the policy");
  EXPECT_EQ(denial(call(SYS_mount, EPERM), FilterProfile::compat).value_or(Denial{}).fix, "");
}

// Whoever tries such a call has something to fall back on: a code of its own, by which nobody is
// bothered.
TEST(Told, ACallThatLooksAbsentIsOneOfItsOwnKind) {
  const Denial ring = denial(call(SYS_io_uring_setup, ENOSYS)).value_or(Denial{});
  EXPECT_EQ(ring.code, kAbsentCall);
  EXPECT_EQ(ring.tried, "io_uring_setup by tool");
  EXPECT_FALSE(denial(call(SYS_io_uring_setup, EFAULT))) << "the filter does not answer that";
  EXPECT_FALSE(denial(call(SYS_getpid, ENOSYS))) << "nor that";
}

TEST(Told, WhoWasEndedByTheFilterWasRefused) {
  const Seen end{.command = "tool", .what = SeenEnd{}};
  const Denial told = denial(end).value_or(Denial{});
  EXPECT_EQ(told.code, "CORDON-SYSCALL");
  EXPECT_EQ(told.tried, "a system call of another architecture by tool");
}

Seen touched(long number, SeenFile file, int error = 0) {
  return {.command = "tool",
          .call = static_cast<std::uint32_t>(number),
          .result = -error,
          .what = std::move(file)};
}

TEST(Told, FilesByWhatWasDoneToThem) {
  const auto act = [](const Seen& seen) {
    const auto told = told_of(seen, {});
    return told ? std::get<FileTouched>(*told).act : "";
  };
  EXPECT_EQ(act(touched(SYS_openat,
                        {.used = "a", .resolved = "/w/a", .flags = 01101, .is_opened = true})),
            "write");
  EXPECT_EQ(
      act(touched(SYS_openat, {.used = "a", .resolved = "/w/.env", .flags = 0, .is_opened = true})),
      "read");
  EXPECT_EQ(act(touched(SYS_unlinkat, {.used = "a", .resolved = "/w/a"})), "unlinkat");
  EXPECT_EQ(
      act(touched(SYS_openat,
                  {.used = "/dev/null", .resolved = "/dev/null", .flags = 1, .is_opened = true})),
      "")
      << "a device";
  EXPECT_EQ(
      act(touched(SYS_openat,
                  {.used = "/dev/shm/x", .resolved = "/dev/shm/x", .flags = 1, .is_opened = true})),
      "write");
  EXPECT_EQ(act(touched(SYS_mkdirat, {.used = "/etc"}, EEXIST)), "") << "an error of its own";
}

// A spawner that goes down while its sandbox is watched already.
TEST(Told, NotWhatASpawnerDoesToItself) {
  const auto is_told = [](std::uint32_t pid, std::uint32_t parent, std::string path) {
    Seen seen = touched(SYS_openat, {.used = "/proc/self/oom_score_adj",
                                     .resolved = std::move(path),
                                     .flags = 02,
                                     .is_opened = true});
    seen.pid = pid;
    seen.parent = parent;
    return told_of(seen, {}).has_value();
  };
  EXPECT_FALSE(is_told(7, 1, "/proc/7/oom_score_adj"));
  EXPECT_TRUE(is_told(7, 1, "/proc/8/oom_score_adj")) << "of another";
  EXPECT_TRUE(is_told(7, 6, "/proc/7/oom_score_adj")) << "by a program's own child";
  EXPECT_TRUE(is_told(7, 1, "/proc/7/mem"));
  EXPECT_TRUE(is_told(7, 1, "/tmp/proc/7/oom_score_adj"));
}

TEST(Told, ConnectionsWithWhatBecameOfThem) {
  const auto error = [](int number) {
    const Seen seen{.call = SYS_connect, .result = -number, .what = SeenConnect{"192.0.2.7", 443}};
    return std::get<ConnectTried>(*told_of(seen, {})).error;
  };
  EXPECT_EQ(error(0), "");
  EXPECT_EQ(error(EINPROGRESS), "");
  EXPECT_EQ(error(ENETUNREACH), "ENETUNREACH");
}

}  // namespace
}  // namespace cordon::monitor
