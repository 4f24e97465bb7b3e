// SPDX-License-Identifier: Apache-2.0
// What lives on when a node or a launcher is killed, and that nothing is told twice or not at all.
#include <chrono>
#include <csignal>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/floor.h"
#include "os/file.h"
#include "os/pidfd.h"
#include "service.h"

namespace cordon::service {
namespace {

std::vector<std::string> words(const std::vector<frame::Held>& held) {
  std::vector<std::string> all;
  for (const frame::Held& each : held) {
    const char* as = each.as == frame::HeldAs::living  ? " living"
                     : each.as == frame::HeldAs::ended ? " ended"
                                                       : " deposited";
    all.push_back(each.id + as);
  }
  return all;
}
using Words = std::vector<std::string>;

TEST_F(RootService, ASandboxOutlivesItsNodeAndTheNextSeesItsOutputAndExitOnce) {
  start();
  auto said = os::pipe2();
  ASSERT_TRUE(said);
  const pid_t victim = ::fork();
  if (victim == 0) {
    Node node = this->node();
    Answer answer = node.launch(plan("abcd2345"));
    if (answer.as<frame::Launched>() == nullptr) ::_exit(1);
    guest::TestHost host{std::move(answer.fds[0])};
    host.acknowledges = false;  // nothing of it is safe with this node
    if (!host.send(guest::shell(1, "echo one; sleep 1; echo two; exit 7"))) ::_exit(1);
    host.hear_until([&] { return host.heard[1].out == "one\n"; });
    if (!os::write_all(said->write, "x")) ::_exit(1);
    for (;;) ::pause();
  }
  said->write = os::Fd{};
  char ready = 0;
  const bool stands = ::read(said->read.get(), &ready, 1) == 1;
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
  ASSERT_TRUE(stands);

  {
    // One that takes it and dies in turn changes nothing.
    Node between = node();
    ASSERT_NE(between.ask(frame::Fetch{"abcd2345"}).as<frame::Launched>(), nullptr);
  }
  Node next = node();
  EXPECT_EQ(words(next.list()), Words{"abcd2345 living"});
  Answer fetched = next.ask(frame::Fetch{"abcd2345"});
  const auto* launched = fetched.as<frame::Launched>();
  ASSERT_NE(launched, nullptr) << fetched.text();
  ASSERT_EQ(fetched.fds.size(), 3U);
  EXPECT_GE(launched->first_id, 1'610'612'736U);
  EXPECT_FALSE(launched->groups.empty());
  guest::TestHost host{std::move(fetched.fds[0])};
  ASSERT_TRUE(host.hear_end(1));
  const guest::Heard& heard = host.heard[1];
  EXPECT_EQ(heard.out, "one\ntwo\n");
  EXPECT_EQ(heard.gaps, 0);
  ASSERT_EQ(heard.exits.size(), 1U);
  EXPECT_EQ(heard.exits[0].value, 7U);
  // It was acknowledged: a third host hears nothing of it, and the second nothing any more.
  EXPECT_EQ(host.run(guest::shell(2, "true")).exits.size(), 1U);
  fetched = next.ask(frame::Fetch{"abcd2345"});
  ASSERT_NE(fetched.as<frame::Launched>(), nullptr) << fetched.text();
  guest::TestHost third{std::move(fetched.fds[0])};
  ASSERT_TRUE(third.hear_hello());
  EXPECT_EQ(third.run(guest::shell(3, "echo on")).out, "on\n");
  EXPECT_TRUE(third.heard[1].exits.empty());
  host.hear_until([] { return false; }, std::chrono::milliseconds{100});
  EXPECT_TRUE(host.ended());
  EXPECT_EQ(next.ask(frame::Fetch{"zzzz2345"}).text(), "not_found: no such sandbox");
}

TEST_F(RootService, AnEndThatNobodyHeardIsKeptAndToldOnce) {
  start();
  os::Fd pidfd;
  {
    Node node = this->node();
    for (const char* id : {"aaaa2345", "bbbb2345"}) {
      Answer answer = node.launch(plan(id));
      ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
      if (!pidfd) pidfd = std::move(answer.fds[1]);
    }
  }
  ASSERT_TRUE(os::pidfd_send_signal(pidfd, SIGKILL));
  ASSERT_TRUE(comes_true([&] { return !is_alive(pidfd); }));
  for (int round = 0; round < 2; ++round) {
    // However often a node comes and goes: as long as it did not ask, nothing is forgotten.
    Node node = this->node();
    ASSERT_TRUE(comes_true(
        [&] { return words(node.list()) == Words{"aaaa2345 ended", "bbbb2345 living"}; }));
    EXPECT_EQ(node.ask(frame::Fetch{"aaaa2345"}).text(), "ended: the sandbox has ended");
    EXPECT_EQ(node.launch(plan("aaaa2345")).text(), "exists: the id is in use");
  }
  Node node = this->node();
  const Answer told = node.ask(frame::Destroy{"aaaa2345"});
  ASSERT_NE(told.as<frame::Ended>(), nullptr) << told.text();
  EXPECT_TRUE(told.as<frame::Ended>()->by_signal);
  EXPECT_EQ(told.as<frame::Ended>()->value, unsigned{SIGKILL});
  EXPECT_TRUE(told.as<frame::Ended>()->use.memory_peak);
  EXPECT_EQ(words(node.list()), Words{"bbbb2345 living"});
  const Answer again = node.ask(frame::Destroy{"aaaa2345"});
  ASSERT_NE(again.as<frame::Ended>(), nullptr);
  EXPECT_FALSE(again.as<frame::Ended>()->by_signal);
}

TEST_F(RootService, SigtermEndsTheLauncherWithAllThatItHolds) {
  start();
  Node node = this->node();
  std::vector<os::Fd> pidfds;
  std::vector<std::string> groups;
  for (const char* id : {"aaaa2345", "bbbb2345", "cccc2345"}) {
    Answer answer = node.launch(plan(id));
    const auto* launched = answer.as<frame::Launched>();
    ASSERT_NE(launched, nullptr) << answer.text();
    groups.insert(groups.end(), launched->groups.begin(), launched->groups.end());
    pidfds.push_back(std::move(answer.fds[1]));
  }
  EXPECT_EQ(stop(SIGTERM), (os::ExitStatus{.value = 0}));
  for (const os::Fd& pidfd : pidfds) EXPECT_FALSE(is_alive(pidfd));
  for (const std::string& group : groups) EXPECT_FALSE(exists(group)) << group;
  EXPECT_FALSE(exists(socket()));
}

bool is_lent(std::uint32_t first_id) {
  const std::string path = "/run/cordon/range-" + std::to_string(first_id);
  const auto lock = os::openat(os::at_cwd(), path.c_str(), O_RDWR);
  return lock && ::flock(lock->get(), LOCK_EX | LOCK_NB) != 0;
}

TEST_F(RootService, ASandboxOutlivesItsLauncherWhileTheNodeHoldsItsStream) {
  start();
  Answer answer = node().launch(plan("abcd2345"));
  const auto* found = answer.as<frame::Launched>();
  ASSERT_NE(found, nullptr) << answer.text();
  const frame::Launched launched = *found;
  ASSERT_EQ(stop(SIGKILL).value, SIGKILL);
  {
    auto same = os::duplicate(answer.fds[0]);
    ASSERT_TRUE(same);
    guest::TestHost host{*std::move(same)};
    EXPECT_EQ(host.run(guest::shell(1, "echo alive")).out, "alive\n");
  }

  start();
  Node node = this->node();
  EXPECT_TRUE(node.list().empty());
  // The stream, and the lock of the ids in which it lives on.
  const Answer stored = node.ask(frame::Deposit{"abcd2345"}, {&answer.fds[0], &answer.fds[2]});
  ASSERT_NE(stored.as<frame::Stored>(), nullptr) << stored.text();
  EXPECT_EQ(words(node.list()), Words{"abcd2345 deposited"});
  EXPECT_EQ(node.ask(frame::Deposit{"abcd2345"}, {&answer.fds[0]}).text(),
            "exists: the id is in use");
  EXPECT_EQ(node.launch(plan("abcd2345")).text(), "exists: the id is in use");

  // This node goes, with all its copies: the next one fetches what was deposited.
  const os::Fd pidfd = std::move(answer.fds[1]);
  answer.fds.clear();
  node = Node{os::Fd{}};
  node = this->node();
  EXPECT_TRUE(is_lent(launched.first_id));
  Answer fetched = node.ask(frame::Fetch{"abcd2345"});
  ASSERT_NE(fetched.as<frame::Stored>(), nullptr) << fetched.text();
  ASSERT_EQ(fetched.fds.size(), 2U);
  std::optional<guest::TestHost> host{std::move(fetched.fds[0])};
  EXPECT_EQ(host->run(guest::shell(2, "echo still")).out, "still\n");

  // Destroying closes the launcher's copies; with the node's the sandbox ends.
  ASSERT_NE(node.ask(frame::Destroy{"abcd2345"}).as<frame::Ended>(), nullptr);
  EXPECT_TRUE(node.list().empty());
  EXPECT_TRUE(is_alive(pidfd));
  host.reset();
  fetched.fds.clear();
  EXPECT_TRUE(comes_true([&] { return !is_alive(pidfd); }));
  EXPECT_FALSE(is_lent(launched.first_id));
  // What the dead launcher had made goes too.
  for (const std::string& group : launched.groups) {
    EXPECT_TRUE(comes_true([&] { return !exists(group); })) << group;
  }
}

TEST_F(RootService, ANodeCannotReleaseTheIdsOfALivingSandbox) {
  write_floor();
  start();
  Node node = this->node();
  Answer answer = node.launch(plan("abcd2345"));
  const auto* launched = answer.as<frame::Launched>();
  ASSERT_NE(launched, nullptr) << answer.text();
  ASSERT_EQ(::flock(answer.fds[2].get(), LOCK_UN), 0);
  EXPECT_TRUE(is_lent(launched->first_id));
}

TEST_F(RootService, TheNextLauncherRemovesWhatAKilledOneHadAhead) {
  write_floor("groups_ahead = 2\n");
  start();
  std::vector<std::string> groups;
  {
    Node node = this->node();
    ::usleep(50'000);
    const Answer answer = node.launch(plan("abcd2345"));
    ASSERT_NE(answer.as<frame::Launched>(), nullptr) << answer.text();
    groups = answer.as<frame::Launched>()->groups;
  }
  ::usleep(50'000);
  const std::string maker = "-" + std::to_string(pid()) + ".";
  const auto left = [&] {
    std::size_t count = 0;
    for (const std::string& group : groups) {
      for (const auto& entry :
           std::filesystem::directory_iterator{std::filesystem::path{group}.parent_path()}) {
        if (entry.path().filename().string().find(maker) != std::string::npos) ++count;
      }
    }
    return count;
  };
  ASSERT_GT(left(), groups.size());  // the sandbox's own, and some ahead
  ASSERT_EQ(stop(SIGKILL).value, SIGKILL);
  // Nobody holds the stream any more: pid 1 ends.
  start();
  EXPECT_TRUE(comes_true([&] {
    if (left() == 0) return true;
    stop(SIGTERM);
    start();
    return false;
  })) << left();
}

TEST_F(RootService, TakesDepositsOfNothingElse) {
  start();
  Node node = this->node();
  auto packets = os::socketpair(os::SocketType::seqpacket);
  auto stream = os::socketpair(os::SocketType::stream);
  ASSERT_TRUE(packets && stream);
  EXPECT_EQ(node.ask(frame::Deposit{"abcd2345"}).text(), "malformed: not one or two descriptors");
  EXPECT_EQ(node.ask(frame::Deposit{"abcd2345"}, {&packets->one}).text(),
            "malformed: the first is no stream");
  EXPECT_EQ(node.ask(frame::Deposit{"abcd2345"}, {&stream->one, &stream->two}).text(),
            "malformed: the second is no lock");
  EXPECT_EQ(node.ask(frame::Deposit{"../x"}, {&stream->one}).text(),
            "malformed: an id that is not of our alphabet");
  EXPECT_TRUE(node.list().empty());
}

}  // namespace
}  // namespace cordon::service
