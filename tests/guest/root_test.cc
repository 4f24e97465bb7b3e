// SPDX-License-Identifier: Apache-2.0
// cordon-init as pid 1: fences, ends and deaths.
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/memfd.h"
#include "sandbox.h"

namespace cordon::guest {
namespace {

class RootGuest : public testing::Test {
 protected:
  void begin(const frame::Setup& setup = standard_setup(), Ids ids = Ids::range) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root maps a range of ids";
    auto launched = launch(setup, ids);
    ASSERT_TRUE(launched) << launched.error().text();
    sandbox.emplace(*std::move(launched));
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): begin made it
  TestHost& host() { return *sandbox->host; }
  std::string out(std::uint32_t process, std::string_view script) {
    const Heard& heard = host().run(shell(process, script));
    if (!heard.failures.empty()) {
      return heard.failures[0].step + " " + std::to_string(heard.failures[0].error_number);
    }
    return heard.out + heard.err;
  }
  os::ExitStatus end() {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): begin made it
    auto ended = std::move(sandbox->init).wait();
    return ended ? *ended : os::ExitStatus{.value = -1};
  }

  std::optional<Sandbox> sandbox;
};

TEST_F(RootGuest, RunsAProgramAsTheWorkloadBehindAllFences) {
  begin();
  ASSERT_TRUE(host().hear_hello()) << why_not(host());
  const std::string status =
      out(1,
          "id -u; id -g; grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp|Groups|PPid)' "
          "/proc/$$/status;"
          "cat /proc/$$/oom_score_adj; ulimit -Hc; ulimit -n");
  EXPECT_TRUE(std::regex_search(
      status, std::regex{"^1000\n1000\nPPid:\t1\nGroups:\t \n"
                         "CapInh:\t0{16}\nCapPrm:\t0{16}\nCapEff:\t0{16}\nCapAmb:\t0{16}\n"
                         "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t2\n500\n[01]\n1024\n$"}))
      << status;
}

TEST_F(RootGuest, EveryExecEqualsTheFirst) {
  begin();
  const char* facts =
      "grep -vE '^(Pid|Tgid|NSpid|NStgid|NSpgid|NSsid|Ngid|Vm|Rss|Hugetlb|Threads|.*ctxt|Sig|Cpus|"
      "Mems|FDSize|State)' /proc/$$/status; ls -l /proc/$$/ns | sed 's/.*-> //'";
  const std::string first = out(1, facts);
  for (std::uint32_t process = 2; process < 6; ++process) EXPECT_EQ(out(process, facts), first);
  EXPECT_NE(first.find("Seccomp:\t2"), std::string::npos);
}

class RootGuestByIds : public RootGuest, public testing::WithParamInterface<Ids> {};
INSTANTIATE_TEST_SUITE_P(Ids, RootGuestByIds, testing::Values(Ids::range, Ids::one));

TEST_P(RootGuestByIds, HasNoRightLeftAndServesOn) {
  begin(standard_setup(), GetParam());
  ASSERT_TRUE(host().hear_hello()) << why_not(host());
  EXPECT_EQ(
      out(1,
          "id -u; grep -E '^(CapEff|Seccomp):' /proc/$$/status; kill -9 -1 2>/dev/null; echo on"),
      "1000\nCapEff:\t0000000000000000\nSeccomp:\t2\non\n");
  EXPECT_EQ(out(2, "echo alive"), "alive\n");
}

TEST_P(RootGuestByIds, HidesPidOneAndTheSpawnerFromTheWorkload) {
  begin(standard_setup(), GetParam());
  ASSERT_EQ(out(1, "echo one"), "one\n");
  // The next spawner is made as our shell begins. Landlock or ownership: whichever speaks first,
  // none of them opens.
  EXPECT_EQ(
      out(2,
          "s=$(($$ + 1)); until [ -d /proc/$s ]; do :; done; "
          "for p in 1 $s; do for f in mem environ maps; do "
          "cat /proc/$p/$f >/dev/null 2>&1 && echo open $p $f; done; "
          "ls /proc/$p/fd >/dev/null 2>&1 && echo listed $p; done; [ -d /proc/$s ] && echo done"),
      "done\n");
}

TEST_F(RootGuest, PidOneCannotBeKilledFromInside) {
  begin();
  EXPECT_EQ(out(1, "kill -9 1 2>/dev/null; kill -STOP 1 2>/dev/null; echo tried"), "tried\n");
  EXPECT_EQ(out(2, "echo alive"), "alive\n");
}

TEST_F(RootGuest, MakesAnotherSpawnerWhenAWorkloadKillsIt) {
  begin();
  ASSERT_EQ(out(1, "echo one"), "one\n");
  for (std::uint32_t process = 2; process < 7; ++process) {
    // kill -1: all that the workload may signal but the shell itself, which is the next spawner.
    EXPECT_EQ(out(process, "until kill -9 -1 2>/dev/null; do :; done; echo killed"), "killed\n");
    ASSERT_TRUE(host().send(frame::AskUsage{.request = process}));
    ASSERT_TRUE(host().hear_until([&] { return host().usages.contains(process); }));
  }
  EXPECT_EQ(out(9, "echo alive"), "alive\n");
}

TEST_F(RootGuest, ASignalToAllIsNotForTheProgramAfterIt) {
  begin();
  ASSERT_EQ(out(1, "echo one"), "one\n");
  ASSERT_EQ(out(2, "echo two"), "two\n");
  ASSERT_TRUE(host().send(frame::Signal{.number = SIGTERM, .to = frame::SignalTo::all}));
  EXPECT_EQ(out(3, "echo alive"), "alive\n");
}

TEST_F(RootGuest, ReapsOrphansAndCountsProcesses) {
  begin();
  EXPECT_EQ(out(1, "for i in 1 2 3 4 5 6 7 8 9 10; do (sh -c 'sleep 0.1 &' &) ; done; echo made"),
            "made\n");
  const auto processes = [&](std::uint32_t request) {
    static_cast<void>(host().send(frame::AskUsage{.request = request}));
    host().hear_until([&] { return host().usages.contains(request); });
    return host().usages[request].processes;
  };
  std::uint32_t left = 99;
  for (std::uint32_t tried = 1; tried < 100 && left > 0; ++tried) {
    left = processes(tried);
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  EXPECT_EQ(left, 0U);
}

TEST_F(RootGuest, TheEndOfTheStreamEndsEverything) {
  begin();
  ASSERT_EQ(out(1,
                "for i in $(seq 20); do setsid sleep 1000 </dev/null >/dev/null 2>&1 & done; "
                "echo up"),
            "up\n");
  host().stream() = os::Fd{};
  EXPECT_EQ(end(), (os::ExitStatus{.value = 0}));  // reaped last, by the kernel's rule
}

TEST_F(RootGuest, SignalsAllButItself) {
  begin();
  ASSERT_TRUE(host().send(shell(1, "sleep 1000")));
  ASSERT_TRUE(host().send(shell(2, "sleep 1000")));
  ASSERT_TRUE(host().hear_until([&] { return host().heard[1].pid && host().heard[2].pid; }));
  ASSERT_TRUE(host().send(frame::Signal{.number = SIGKILL, .to = frame::SignalTo::all}));
  ASSERT_TRUE(host().hear_end(1));
  ASSERT_TRUE(host().hear_end(2));
  EXPECT_EQ(host().heard[1].exits.at(0).value, unsigned{SIGKILL});
  EXPECT_EQ(out(3, "echo alive"), "alive\n");
}

TEST_F(RootGuest, AMalformedFrameEndsIt) {
  begin();
  ASSERT_TRUE(host().hear_hello()) << why_not(host());
  const std::array<std::byte, 5> zero{std::byte{1}, {}, {}, {}, std::byte{77}};
  ASSERT_TRUE(host().send_bytes(zero));
  EXPECT_EQ(end(), (os::ExitStatus{.value = 2}));
}

TEST_F(RootGuest, ACapabilityThatItWasNotGivenFailsClosed) {
  frame::Setup setup = standard_setup();
  setup.fences.capabilities = {10};  // CAP_NET_BIND_SERVICE, which this test's launcher keeps back
  begin(setup);
  EXPECT_FALSE(host().hear_hello());
  ASSERT_EQ(host().heard[0].failures.size(), 1U);
  EXPECT_EQ(host().heard[0].failures[0].step, "capabilities");
  EXPECT_EQ(end(), (os::ExitStatus{.value = 1}));
}

TEST_F(RootGuest, GrantedCapabilitiesSurviveExec) {
  frame::Setup setup = standard_setup();
  setup.fences.capabilities = {5};  // CAP_KILL
  begin(setup);
  EXPECT_EQ(out(1, "grep -E 'Cap(Prm|Eff|Amb)' /proc/$$/status"),
            "CapPrm:\t0000000000000020\nCapEff:\t0000000000000020\nCapAmb:\t0000000000000020\n");
}

TEST_F(RootGuest, EntersNoDirectoryThatIsNotInside) {
  begin();
  std::uint32_t process = 1;
  for (int fd = 3; fd < 40; ++fd) {
    frame::Start start = shell(process, "pwd");
    start.directory = "/proc/self/fd/" + std::to_string(fd);
    const Heard& heard = host().run(start);
    ASSERT_EQ(heard.failures.size(), 1U) << fd;
    EXPECT_EQ(heard.failures[0].step, "directory") << fd;
    ++process;
  }
  for (const char* path : {"", "tmp", "/proc/1/root", "/proc/1/cwd"}) {
    frame::Start start = shell(process, "pwd");
    start.directory = path;
    const Heard& heard = host().run(start);
    ASSERT_EQ(heard.failures.size(), 1U) << path;
    EXPECT_EQ(heard.failures[0].step, "directory") << path;
    ++process;
  }
}

TEST_F(RootGuest, FileActsHaveTheWorkloadsRights) {
  begin();
  const auto reply =
      host().ask({.request = 1, .act = frame::FileAct::write, .path = "/tmp/f", .bytes = "text"});
  EXPECT_EQ(reply.error_number, 0);
  EXPECT_EQ(out(1, "cat /tmp/f; stat -c %u /tmp/f; mkfifo /tmp/fifo"), "text1000\n");
  EXPECT_EQ(host()
                .ask({.request = 2, .act = frame::FileAct::read, .path = "/etc/shadow", .count = 9})
                .error_number,
            EACCES);
  EXPECT_EQ(host()
                .ask({.request = 3, .act = frame::FileAct::read, .path = "/tmp/fifo", .count = 9})
                .error_number,
            EINVAL);
  EXPECT_EQ(host()
                .ask({.request = 4, .act = frame::FileAct::write, .path = "/usr/x", .bytes = "x"})
                .error_number,
            EACCES);
  const std::string large(900'000, 'z');
  EXPECT_EQ(host()
                .ask({.request = 5, .act = frame::FileAct::write, .path = "/tmp/l", .bytes = large})
                .error_number,
            0);
  EXPECT_EQ(
      host()
          .ask({.request = 6, .act = frame::FileAct::read, .path = "/tmp/l", .count = 1U << 20U})
          .bytes,
      large);
}

// Private memory, in KiB, of all but the program's own pages, which every sandbox shares: those of
// a mapping that is not written count only as far as they were copied (relocations).
std::size_t private_kib(pid_t pid) {
  std::ifstream smaps{"/proc/" + std::to_string(pid) + "/smaps"};
  std::size_t sum = 0;
  std::size_t own = 0;
  bool program = false;
  for (std::string line; std::getline(smaps, line);) {
    const std::string_view key = std::string_view{line}.substr(0, line.find(' '));
    if (key.find('-') != std::string_view::npos) {  // "7f0000-7f1000": a mapping begins
      program = line.find("memfd:") != std::string::npos && line.find(" rw") == std::string::npos;
      own = 0;
    } else if (key == "Private_Dirty:" || key == "Private_Clean:") {
      own += std::stoul(line.substr(key.size()));
    } else if (key == "Anonymous:") {
      sum += program ? std::min(own, std::stoul(line.substr(key.size()))) : own;
    }
  }
  return sum;
}

TEST_F(RootGuest, NeedsLittleMemoryWhenIdle) {
  begin();
  ASSERT_TRUE(host().hear_hello()) << why_not(host());
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): begin made it
  const std::size_t fresh = private_kib(sandbox->init.pid());
  EXPECT_EQ(
      out(1, "head -c 3000000 /dev/zero | tr '\\0' x | wc -c; head -c 500000 /dev/zero").size(),
      500'008U);
  // It is idle once it has heard that its host has heard.
  std::size_t used = 0;
  for (int tries = 0; tries < 40 && (used == 0 || used > 64); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): begin made it
    used = private_kib(sandbox->init.pid());
  }
  RecordProperty("fresh_kib", static_cast<int>(fresh));
  RecordProperty("used_kib", static_cast<int>(used));
  std::cout << "private memory of pid 1: " << fresh << " KiB, after use " << used << " KiB\n";
  EXPECT_LE(fresh, 64U);
  EXPECT_LE(used, 64U);
}

}  // namespace
}  // namespace cordon::guest
