// SPDX-License-Identifier: Apache-2.0
#include "os/seccomp.h"

#include <cerrno>
#include <functional>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/prctl.h"
#include "os/seccomp_compile.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// A call with no effect that nothing else in the process makes.
constexpr int kCall = SYS_sched_rr_get_interval;
long make_call() { return ::syscall(kCall, -1, nullptr); }
std::string call_outcome() {
  const long result = make_call();
  return result < 0 ? "errno " + std::to_string(errno) : "value " + std::to_string(result);
}

std::vector<sock_filter> filter_with(FilterAction action) {
  auto program =
      compile_filter({.otherwise = FilterAction::allow(), .rules = {{kCall, action, {}}}});
  return program ? *std::move(program) : std::vector<sock_filter>{};
}

std::string call_under(FilterAction action) {
  const auto program = filter_with(action);
  return in_child([&] {
    if (const auto done = set_no_new_privs(); !done) return outcome(done);
    if (const auto done = seccomp_load(program); !done) return outcome(done);
    return call_outcome();
  });
}

TEST(Seccomp, FilterDecidesTheCall) {
  EXPECT_EQ(in_child(call_outcome), "errno " + std::to_string(EINVAL)) << "without a filter";
  EXPECT_EQ(call_under(FilterAction::fail(ENOTTY)), "errno " + std::to_string(ENOTTY));
  EXPECT_EQ(call_under(FilterAction::kill_process()), "signal 31");
}

TEST(Seccomp, LoadNeedsNoNewPrivsOrPrivilege) {
  const auto program = filter_with(FilterAction::fail(EPERM));
  EXPECT_EQ(in_child([&]() -> std::string {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "setresuid";
              const auto done = seccomp_load(program);
              return done ? "ok" : std::to_string(done.error().cause().value());
            }),
            std::to_string(EACCES));
}

TEST(Seccomp, RefusesEmptyAndOverlongPrograms) {
  EXPECT_FALSE(seccomp_load({}));
  const std::vector<sock_filter> long_one(BPF_MAXINSNS + 1);
  const auto done = seccomp_load(long_one);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Errc::invalid);
}

TEST(Seccomp, BindsTheOtherThreadsOnlyWhenAsked) {
  const auto program = filter_with(FilterAction::fail(ENOTTY));
  const auto elsewhere = [&](bool all_threads) {
    return in_child([&] {
      auto go = pipe2();
      if (!go) return outcome(go);
      std::string seen;
      std::thread other{[&] {
        char byte = 0;
        if (::read(go->read.get(), &byte, 1) == 1) seen = call_outcome();
      }};
      Status done = set_no_new_privs();
      if (done) done = seccomp_load(program, {.all_threads = all_threads});
      const auto told = write_all(go->write, "x");
      other.join();
      return done && told ? seen : outcome(done);
    });
  };
  EXPECT_EQ(elsewhere(true), "errno " + std::to_string(ENOTTY));
  EXPECT_EQ(elsewhere(false), "errno " + std::to_string(EINVAL));
}

// In a child: one thread makes the call under a filter that notifies, the first thread answers it.
std::string answered(const std::function<Status(const Fd&, const SeccompNotification&)>& answer) {
  const auto program = filter_with(FilterAction::notify());
  return in_child([&] {
    if (const auto done = set_no_new_privs(); !done) return outcome(done);
    const auto listener = seccomp_load_with_listener(program, {.all_threads = false});
    if (!listener) return outcome(listener);
    std::string seen;
    std::thread caller{[&] { seen = call_outcome(); }};
    Status done;
    const auto call = seccomp_receive(*listener);
    if (call) done = answer(*listener, *call);
    caller.join();
    return call && done ? seen : outcome(call) + " " + outcome(done);
  });
}

TEST(SeccompListener, GetsTheCallAndGivesItsResult) {
  EXPECT_EQ(answered([](const Fd& listener, const SeccompNotification& call) -> Status {
              if (call.number != kCall || call.pid <= 0) return Error{Errc::internal, "call"};
              // -1 was passed as a C int: the kernel hands on all 64 bits of the register.
              if (static_cast<std::int32_t>(call.arguments[0]) != -1) {
                return Error{Errc::internal, "argument"};
              }
              if (!seccomp_id_valid(listener, call.id)) return Error{Errc::internal, "id"};
              return seccomp_respond_value(listener, call.id, 42);
            }),
            "value 42");
}

TEST(SeccompListener, GivesErrors) {
  EXPECT_EQ(answered([](const Fd& listener, const SeccompNotification& call) {
              return seccomp_respond_error(listener, call.id, ENOTTY);
            }),
            "errno " + std::to_string(ENOTTY));
}

TEST(SeccompListener, LetsTheKernelGoOn) {
  EXPECT_EQ(answered([](const Fd& listener, const SeccompNotification& call) {
              return seccomp_respond_continue(listener, call.id);
            }),
            "errno " + std::to_string(EINVAL));
}

TEST(SeccompListener, PutsADescriptorIntoTheCaller) {
  EXPECT_TRUE(answered([](const Fd& listener, const SeccompNotification& call) -> Status {
                TRY(const Fd null, openat(at_cwd(), "/dev/null", O_RDONLY));
                return seccomp_respond_fd(listener, call.id, null, true);
              }).starts_with("value "));
}

TEST(SeccompListener, DoesNotTakeAnAnswerTwice) {
  EXPECT_EQ(answered([](const Fd& listener, const SeccompNotification& call) -> Status {
              TRY_DO(seccomp_respond_value(listener, call.id, 1));
              const auto again = seccomp_respond_value(listener, call.id, 2);
              if (again || again.error().code() == Errc::exhausted) {
                return Error{Errc::internal, "answered twice"};
              }
              if (seccomp_id_valid(listener, call.id)) return Error{Errc::internal, "still valid"};
              return {};
            }),
            "value 1");
}

TEST(SeccompListener, CallsFailWhenNobodyListens) {
  const auto program = filter_with(FilterAction::notify());
  EXPECT_EQ(in_child([&] {
              if (const auto done = set_no_new_privs(); !done) return outcome(done);
              auto listener = seccomp_load_with_listener(program);
              if (!listener) return outcome(listener);
              *listener = Fd{};
              return call_outcome();
            }),
            "errno " + std::to_string(ENOSYS));
}

TEST(SeccompListener, TakesSynchronousWakeUp) {
  const auto program = filter_with(FilterAction::notify());
  const std::string said = in_child([&] {
    if (const auto done = set_no_new_privs(); !done) return outcome(done);
    const auto listener = seccomp_load_with_listener(program);
    if (!listener) return outcome(listener);
    return outcome(seccomp_set_sync_wake_up(*listener));
  });
  if (said.ends_with("Invalid argument")) GTEST_SKIP() << "kernel before 6.6: " << said;
  EXPECT_EQ(said, "ok");
}

}  // namespace
}  // namespace cordon::os
