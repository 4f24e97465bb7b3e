// SPDX-License-Identifier: Apache-2.0
// A guest that was prepared for what most plans are, and what each plan gets of that.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <linux/seccomp.h>
#include <memory>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "guest/guest.h"
#include "guest/test_host.h"
#include "os/prctl.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

constexpr std::uint64_t kManyProcesses = 1U << 20U;

// Two that can be told apart by whoever is behind them.
Result<std::span<const sock_filter>> find_one_of_two(std::string_view name) {
  static constexpr std::array kAll = {sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  static constexpr std::array kNoName = {
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_uname},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  if (name == "all") return std::span<const sock_filter>{kAll};
  if (name == "no-name") return std::span<const sock_filter>{kNoName};
  return Error::from_errno("filter", ENOENT);
}

frame::Setup plan(std::string filter, std::uint64_t processes = kManyProcesses,
                  std::uint64_t open_files = 0) {
  return {.fences = {.uid = ::getuid(),
                     .gid = ::getgid(),
                     .filter = std::move(filter),
                     .limits = {.open_files = open_files, .processes = processes}},
          .disk = "/tmp"};
}

bool is_alive(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string number;
  std::string name;
  std::string state;
  return stat >> number >> name >> state && state != "Z";
}

// A guest in a child, which waits as one of a machine that will be saved.
class Usual : public testing::Test {
 protected:
  void stand(const frame::Setup& usual) {
    auto pair = *os::socketpair(os::SocketType::stream);
    auto word = *os::socketpair(os::SocketType::stream);
    host = std::make_unique<TestHost>(std::move(pair.one));
    guest_ = ::fork();
    ASSERT_GE(guest_, 0);
    if (guest_ == 0) {
      host.reset();  // else its stream has no end
      be_guest(usual, std::move(pair.two), std::move(word.two));
    }
    word.two = os::Fd{};
    std::array<std::byte, 1> waits{};
    ASSERT_EQ(::read(word.one.get(), waits.data(), 1), 1) << "it ended before it waited";
    std::ifstream children{"/proc/" + std::to_string(guest_) + "/task/" + std::to_string(guest_) +
                           "/children"};
    for (pid_t child = 0; children >> child;) spawners.push_back(child);
  }
  ~Usual() override {
    if (guest_ <= 0) return;
    host->stream() = os::Fd{};
    ::waitpid(guest_, nullptr, 0);
  }

  std::string says(std::uint32_t process, std::string_view script) {
    const Heard& heard = host->run(shell(process, script));
    return heard.out + heard.err;
  }
  // The program was made of one that stood there before there was a plan.
  bool was_there(std::uint32_t process) {
    return std::ranges::find(spawners, static_cast<pid_t>(host->heard[process].pid)) !=
           spawners.end();
  }

  std::unique_ptr<TestHost> host;
  std::vector<pid_t> spawners;

 private:
  [[noreturn]] static void be_guest(const frame::Setup& usual, os::Fd stream, os::Fd word) {
    if (!os::set_no_new_privs() || !os::set_child_subreaper(true)) ::_exit(99);
    const auto await_control = [&]() -> Result<Control> {
      if (::write(word.get(), "w", 1) != 1) return Error::from_errno("write");
      word = os::Fd{};
      return Control{std::move(stream)};
    };
    ::_exit(static_cast<int>(run(Control{os::Fd{}}, {.pid_namespace = false,
                                                     .find_filter = find_one_of_two,
                                                     .usual = &usual,
                                                     .await_control = await_control})));
  }

  pid_t guest_ = 0;
};

TEST_F(Usual, ServesAPlanThatDiffersByItsLimitsAndPutsThoseOn) {
  stand(plan("no-name"));
  ASSERT_EQ(spawners.size(), 2U);
  ASSERT_TRUE(host->send(plan("no-name", 4321, 77)));
  EXPECT_EQ(says(1, "ulimit -n; ulimit -p; nice"), "77\n4321\n10\n");
  EXPECT_TRUE(was_there(1));
  EXPECT_NE(says(2, "uname").find("cannot get system name"), std::string::npos);
}

TEST_F(Usual, LeavesNoFilterOfItsOwnToAPlanWithAnother) {
  stand(plan("no-name"));
  ASSERT_TRUE(host->send(plan("all")));
  EXPECT_EQ(says(1, "uname"), "Linux\n");
  EXPECT_TRUE(was_there(1)) << "there was one for any plan";
  EXPECT_EQ(says(2, "uname"), "Linux\n");
  EXPECT_FALSE(was_there(2)) << "only the one behind the other filter was left";
}

TEST_F(Usual, LetsNobodyWaitForOthersWhosePlanDoesNot) {
  stand(plan("all"));
  ASSERT_TRUE(host->send(plan("all", 0)));
  EXPECT_EQ(says(1, "nice"), std::to_string(::nice(0)) + "\n");
}

TEST_F(Usual, KeepsTheOneThatIsNotTakenForTheNextProgram) {
  stand(plan("all"));
  ASSERT_TRUE(host->send(plan("all", 4321)));
  EXPECT_EQ(says(1, "ulimit -p"), "4321\n");
  EXPECT_EQ(says(2, "ulimit -p"), "4321\n");
  EXPECT_EQ(says(3, "ulimit -p"), "4321\n");
  EXPECT_TRUE(was_there(1) && was_there(2));
  EXPECT_FALSE(was_there(3));
}

TEST_F(Usual, ServesEveryPlanWhereTheUsualOneCannotBe) {
  stand(plan("none of ours"));
  ASSERT_TRUE(host->send(plan("no-name", 4321)));
  EXPECT_EQ(says(1, "ulimit -p"), "4321\n");
  EXPECT_NE(says(2, "uname").find("cannot get system name"), std::string::npos);
}

TEST_F(Usual, ServesWhereThoseThatWaitedHaveDied) {
  stand(plan("all"));
  for (const pid_t spawner : spawners) {
    ::kill(spawner, SIGKILL);
    while (is_alive(spawner)) ::usleep(1000);
  }
  ASSERT_TRUE(host->send(plan("all", 4321)));
  EXPECT_EQ(says(1, "ulimit -p"), "4321\n");
}

TEST_F(Usual, CountsWhoWaitsAsNoProcessOfASandbox) {
  stand(plan("all"));
  ASSERT_TRUE(host->send(plan("all")));
  ASSERT_TRUE(host->hear_hello());
  ASSERT_TRUE(host->send(frame::AskUsage{.request = 1}));
  ASSERT_TRUE(host->hear_until([&] { return host->usages.contains(1); }));
  EXPECT_EQ(host->usages[1].processes, 0U);
}

}  // namespace
}  // namespace cordon::guest
