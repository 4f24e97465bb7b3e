// SPDX-License-Identifier: Apache-2.0
// What the broker, as a user of its own, shows to root and to others of that user: root sees all,
// so root can say where a secret lies.
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "broker/serve.h"
#include "os/identity.h"
#include "os/test_support.h"
#include "started.h"

namespace cordon {
namespace {

constexpr uid_t kUser = 65'531;

// Where `wanted` lies in a process's memory, and whether each such mapping is locked and undumped.
struct Sightings {
  int count = 0;
  int in_ordinary_memory = 0;
};

Sightings look_for(pid_t pid, std::string_view wanted) {
  const std::string base = "/proc/" + std::to_string(pid) + "/";
  std::ifstream maps{base + "smaps"};
  const os::Fd memory{::open((base + "mem").c_str(), O_RDONLY | O_CLOEXEC)};
  Sightings seen;
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
  bool readable = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t a = 0;
    std::uintptr_t b = 0;
    char dash = 0;
    std::string rights;
    std::istringstream head{line};
    if (head >> std::hex >> a >> dash >> b >> rights && dash == '-') {
      from = a;
      to = b;
      readable = rights.starts_with('r') && line.find("[v") == std::string::npos;
      continue;
    }
    if (!line.starts_with("VmFlags:") || !readable) continue;
    std::string bytes(to - from, '\0');
    const ssize_t got = ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(from));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const bool kept =
        line.find(" lo") != std::string::npos && line.find(" dd") != std::string::npos;
    for (auto at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1)) {
      ++seen.count;
      if (!kept) ++seen.in_ordinary_memory;
    }
  }
  return seen;
}

// The limit's soft value in /proc/PID/limits.
std::string limit(const StartedBroker& broker, std::string_view name) {
  std::ifstream file{broker.proc("limits")};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream rest{line.substr(name.size())};
    std::string soft;
    std::string hard;
    rest >> soft >> hard;
    return soft == hard ? soft : soft.append("/").append(hard);
  }
  return "none";
}

class BrokerRoot : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: starts the program as another user";
  }
};

TEST_F(BrokerRoot, IsConfinedBeforeItHearsAWord) {
  StartedBroker broker{kUser};
  ASSERT_TRUE(broker.is_ready());
  EXPECT_EQ(broker.status("Seccomp"), "2");
  EXPECT_EQ(broker.status("NoNewPrivs"), "1");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    EXPECT_EQ(broker.status(set), "0000000000000000") << set;
  }
  EXPECT_EQ(broker.status("Uid").substr(0, 5), std::to_string(kUser));
  EXPECT_EQ(limit(broker, "Max core file size"), "0");
  EXPECT_EQ(limit(broker, "Max open files"), std::to_string(broker::Server::kMostFds));
  // Not dumpable: its files in /proc are root's and not its user's.
  struct stat st{};
  ASSERT_EQ(::stat(broker.proc("environ").c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, 0U);
  EXPECT_NE(broker.status("VmLck"), "0 kB");

  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator{broker.proc("fd")}) {
    const std::string target = std::filesystem::read_symlink(entry.path()).string();
    const bool socket = target.starts_with("socket:");
    EXPECT_TRUE(socket || target == "anon_inode:[eventpoll]") << target;
    sockets += socket ? 1 : 0;
  }
  EXPECT_EQ(sockets, 5) << "three shut streams, owner and egress";
}

// The same by root itself: it is no different there.
TEST_F(BrokerRoot, GivesUpRootsCapabilitiesToo) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_EQ(broker.status(set), "0000000000000000") << set;
  }
}

// C184: a process of the broker's own user, beside an ordinary process of that user.
TEST_F(BrokerRoot, IsClosedToItsOwnUser) {
  StartedBroker broker{kUser};
  ASSERT_TRUE(broker.is_ready());
  const auto ordinary = os::Child::start({}, [] {
    if (!os::set_groups({}) || !os::set_group(kUser) || !os::set_user(kUser)) return 1;
    if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return 1;
    for (;;) ::pause();
  });
  ASSERT_TRUE(ordinary);
  const auto looks = [&](pid_t pid) {
    return os::in_child([&]() -> std::string {
      if (!os::set_groups({}) || !os::set_group(kUser) || !os::set_user(kUser)) return "no user";
      const std::string base = "/proc/" + std::to_string(pid) + "/";
      std::string said;
      for (const char* name : {"mem", "environ", "fd/3", "maps"}) {
        const os::Fd file{::open((base + name).c_str(), O_RDONLY | O_CLOEXEC)};
        said += file || errno == ENXIO || errno == ENOENT ? "open " : "shut ";
      }
      const long traced = ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr);
      return said + (traced == 0 ? "traced" : "untraced");
    });
  };
  // An ordinary one may still be on its way to its new user.
  std::string seen;
  for (int i = 0; i < 100 && seen != "open open open open traced"; ++i) {
    seen = looks(ordinary->pid());
    ::usleep(5000);
  }
  EXPECT_EQ(seen, "open open open open traced");
  EXPECT_EQ(looks(broker.pid()), "shut shut shut shut untraced");
}

// C183: in memory that is locked and in no dump while it is bound; nowhere afterwards.
TEST_F(BrokerRoot, KeepsASecretInLockedMemoryOnlyAndWipesIt) {
  StartedBroker broker{kUser};
  ASSERT_TRUE(broker.is_ready());
  const std::string sentinel = "tuesday-sentinel-9f2c-0f6e";
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(a_grant(sentinel))));
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_EQ(value_of(broker.ask(a_request(i))), "Bearer " + sentinel);
    ASSERT_TRUE(broker.heard_by_owner());
  }
  // Its last turn is over when it answers in the next.
  static_cast<void>(broker.tell(frame::RevokeGrants{.sandbox = "none"}));
  const Sightings bound = look_for(broker.pid(), sentinel);
  EXPECT_EQ(bound.count, 1);
  EXPECT_EQ(bound.in_ordinary_memory, 0);

  ASSERT_EQ(broker.tell(frame::RevokeGrants{.sandbox = "abc"}),
            frame::BrokerToOwner(frame::GrantsRevoked{1}));
  EXPECT_EQ(look_for(broker.pid(), sentinel).count, 0);
  // The look itself is no blind one.
  EXPECT_GT(look_for(broker.pid(), "cordon-broker").count, 0);
}

TEST_F(BrokerRoot, WipesWhatIsRefusedReplacedOrExpired) {
  StartedBroker broker{kUser};
  ASSERT_TRUE(broker.is_ready());
  frame::BindGrant bad = a_grant("refused-sentinel-1");
  bad.port = 80;
  ASSERT_TRUE(std::holds_alternative<frame::GrantRefused>(broker.tell(bad)));
  EXPECT_EQ(look_for(broker.pid(), "refused-sentinel-1").count, 0);

  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(a_grant("replaced-sentinel"))));
  EXPECT_EQ(look_for(broker.pid(), "replaced-sentinel").count, 1);
  frame::BindGrant next = a_grant("expired-sentinel");
  next.ttl_seconds = 1;
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(next)));
  EXPECT_EQ(look_for(broker.pid(), "replaced-sentinel").count, 0);
  EXPECT_EQ(look_for(broker.pid(), "expired-sentinel").count, 1);
  // By its own timer: nobody asks.
  ::usleep(1'200'000);
  EXPECT_EQ(look_for(broker.pid(), "expired-sentinel").count, 0);
}

}  // namespace
}  // namespace cordon
