// SPDX-License-Identifier: Apache-2.0
// A guest without namespaces, as a child of the test: what it promises to a host.
#include "guest/guest.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/guest_rig_test.h"

namespace cordon::guest {
namespace {

std::string describe(const Heard& heard) {
  std::string text = "pid " + std::to_string(heard.pid) + ", err: " + heard.err;
  for (const auto& failed : heard.failures) {
    text += ", " + failed.step + " " + std::to_string(failed.error_number);
  }
  for (const auto& exited : heard.exits) text += ", exit " + std::to_string(exited.value);
  return text;
}

TEST_F(Guest, SaysHelloOnceItsSpawnerStandsAndEndsWithItsStream) {
  begin();
  EXPECT_TRUE(host->hear_hello());
  EXPECT_EQ(finish(), 0);
}

TEST_F(Guest, EndsWhereItCannotSeeTheEndsOfItsChildren) {
  begin(setup(), std::chrono::seconds{30}, std::chrono::seconds{2}, true);
  static_cast<void>(host->send(shell(1, "true")));
  ASSERT_TRUE(host->hear_until([&] { return host->ended(); }, std::chrono::seconds{10}));
  EXPECT_EQ(wait(), static_cast<int>(GuestEnd::out_of_resources));
}

TEST_F(Guest, BringsBothStreamsAndTheExitCode) {
  begin();
  const Heard& heard = host->run(shell(1, "echo one; echo two >&2; exit 7"));
  EXPECT_EQ(heard.out, "one\n");
  EXPECT_EQ(heard.err, "two\n");
  ASSERT_EQ(heard.exits.size(), 1U);
  EXPECT_EQ(heard.exits[0].value, 7U);
  EXPECT_FALSE(heard.exits[0].by_signal);
  EXPECT_GT(heard.exits[0].most_memory, 0U);
  EXPECT_GT(heard.exits[0].disk.most_bytes, 0U);
  EXPECT_GT(heard.pid, 1U);
}

TEST_F(Guest, GivesInputAndItsEnd) {
  begin();
  ASSERT_TRUE(host->send(
      frame::Start{.process = 1, .arguments = {"cat"}, .environment = {}, .directory = "/"}));
  ASSERT_TRUE(host->send(frame::Input{.process = 1, .offset = 0, .bytes = "hel"}));
  ASSERT_TRUE(host->send(frame::Input{.process = 1, .offset = 3, .bytes = "lo", .last = true}));
  ASSERT_TRUE(host->hear_end(1));
  EXPECT_EQ(host->heard[1].out, "hello");
  EXPECT_TRUE(host->hear_until([&] { return host->heard[1].taken == 5; }));
}

TEST_F(Guest, StartsWhatItsSetupNamesBeforeAnybodyAsks) {
  frame::Setup with_standby = setup();
  with_standby.standby = shell(frame::kStandby, "echo ready; cat");
  begin(with_standby);
  ASSERT_TRUE(host->hear_until([&] { return host->heard[frame::kStandby].out == "ready\n"; }));
  ASSERT_TRUE(host->send(
      frame::Input{.process = frame::kStandby, .offset = 0, .bytes = "asked", .last = true}));
  ASSERT_TRUE(host->hear_end(frame::kStandby));
  EXPECT_EQ(host->heard[frame::kStandby].out, "ready\nasked");
  EXPECT_EQ(host->run(shell(2, "echo beside")).out, "beside\n");
}

TEST_F(Guest, EndsWhereAStandbyHasAnotherNumber) {
  frame::Setup with_standby = setup();
  with_standby.standby = shell(frame::kStandby + 1, "true");
  begin(with_standby);
  EXPECT_EQ(wait(), static_cast<int>(GuestEnd::protocol_error));
}

TEST_F(Guest, EndsWhereSomebodyIsToBeRootAndItsFencesSayNothingOfIt) {
  begin();
  frame::Start start = shell(1, "true");
  start.as_root = true;
  ASSERT_TRUE(host->send(start));
  EXPECT_EQ(wait(), static_cast<int>(GuestEnd::protocol_error));
}

TEST_F(Guest, StartsWithoutInputWhereNoneIsWanted) {
  begin();
  frame::Start start = shell(1, "cat; echo end");
  start.input = false;
  EXPECT_EQ(host->run(start).out, "end\n");
}

TEST_F(Guest, TakesInputThatAProgramWillNeverRead) {
  begin();
  ASSERT_TRUE(host->send(shell(1, "exec <&-; sleep 0.2; echo closed; sleep 60")));
  ASSERT_TRUE(host->hear_until([&] { return !host->heard[1].out.empty(); }));
  ASSERT_TRUE(host->send(frame::Input{.process = 1, .bytes = std::string(100'000, 'x')}));
  EXPECT_TRUE(host->hear_until([&] { return host->heard[1].taken == 100'000; }));
}

TEST_F(Guest, TellsWhyAProgramDidNotRun) {
  begin();
  const auto failure = [&](frame::Start start) {
    const Heard& heard = host->run(std::move(start));
    if (heard.failures.empty()) return std::string{"it ran"};
    return heard.failures[0].step + " " + std::to_string(heard.failures[0].error_number);
  };
  frame::Start start = shell(1, "");
  start.arguments = {"no-such-program-here"};
  EXPECT_EQ(failure(start), "exec " + std::to_string(ENOENT));
  start = shell(2, "");
  start.arguments = {"/etc/passwd"};
  EXPECT_EQ(failure(start), "exec " + std::to_string(EACCES));
  start = shell(3, "true");
  start.directory = "relative";
  EXPECT_EQ(failure(start), "directory " + std::to_string(EINVAL));
  start = shell(4, "true");
  start.directory = "/no/such/place";
  EXPECT_EQ(failure(start), "directory " + std::to_string(ENOENT));
  start = shell(5, "true");
  start.arguments = {};
  EXPECT_EQ(failure(start), "exec " + std::to_string(EINVAL));
  // And the spawner serves on.
  EXPECT_EQ(host->run(shell(6, "echo still")).out, "still\n");
}

TEST_F(Guest, GivesAProgramThreeDescriptorsDefaultSignalsAndItsEnvironmentOnly) {
  begin();
  frame::Start start =
      shell(1, "ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Ign|Blk)' /proc/self/status; env");
  start.environment = {"PATH=/usr/bin:/bin", "ONLY=this"};
  const std::string out = host->run(start).out;
  // The fourth is the directory that ls reads.
  EXPECT_TRUE(out.starts_with("0 1 2 3 SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"))
      << out;
  EXPECT_NE(out.find("ONLY=this\n"), std::string::npos);
  EXPECT_EQ(out.find("HOME="), std::string::npos) << out;
}

TEST_F(Guest, PutsEachProcessIntoASessionOfItsOwn) {
  begin();
  const Heard& heard = host->run(shell(1, "cut -d' ' -f6 /proc/$$/stat"));
  EXPECT_EQ(heard.out, std::to_string(heard.pid) + "\n");
}

TEST_F(Guest, HoldsAWriterUpWhenNobodyAcknowledgesAndLosesNothing) {
  begin();
  host->acknowledges = false;
  ASSERT_TRUE(
      host->send(shell(1, "head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; echo other >&2")));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[1].out.size() == 64U << 10U; }));
  EXPECT_FALSE(host->hear_until([&] { return host->heard[1].out.size() > 64U << 10U; },
                                std::chrono::milliseconds{300}));
  // A second process is not held up by the first.
  host->acknowledges = true;
  EXPECT_EQ(host->run(shell(2, "echo free")).out, "free\n");
  ASSERT_TRUE(host->send(frame::Acknowledge{.process = 1, .offset = 64U << 10U}));
  ASSERT_TRUE(host->hear_end(1));
  EXPECT_EQ(host->heard[1].out, std::string(1'000'000, 'x') + "\n");
  EXPECT_EQ(host->heard[1].err, "other\n");
  EXPECT_EQ(host->heard[1].gaps, 0);
}

TEST_F(Guest, RepeatsAfterResumeWhatWasNotAcknowledged) {
  begin();
  host->acknowledges = false;
  ASSERT_TRUE(host->run(shell(1, "echo kept; exit 3")).exits.size() == 1);
  host->heard.clear();
  host->hellos = 0;
  ASSERT_TRUE(host->send(frame::Resume{}));
  ASSERT_TRUE(host->hear_end(1));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[1].err_ended; }));
  EXPECT_EQ(host->hellos, 1);
  EXPECT_EQ(host->heard[1].out, "kept\n");
  EXPECT_EQ(host->heard[1].exits.at(0).value, 3U);
  EXPECT_GT(host->heard[1].pid, 1U);
  // Acknowledged, it is not said again.
  ASSERT_TRUE(host->send(frame::Acknowledge{.process = 1, .offset = 5}));
  ASSERT_TRUE(host->send(frame::AcknowledgeExit{.process = 1}));
  host->heard.clear();
  ASSERT_TRUE(host->send(frame::Resume{}));
  EXPECT_TRUE(host->hear_until([&] { return host->hellos == 2; }));
  EXPECT_TRUE(host->heard.empty());
}

TEST_F(Guest, GoesOnAtANewStreamWhateverWasHalfSentOnTheOld) {
  begin();
  host->acknowledges = false;
  ASSERT_TRUE(host->send(shell(1, "yes | head -c 50000; sleep 0.3; exit 4")));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[1].out.size() >= 20'000; }));
  // Half a frame of ours, and however much of the guest's was read: then a new stream.
  const auto half = encode(frame::ToGuest{shell(9, "echo never")});
  ASSERT_TRUE(host->send_bytes(std::span{half}.first(7)));
  auto pair = os::socketpair(os::SocketType::stream);
  ASSERT_TRUE(pair);
  const std::array<std::byte, 1> mark{};
  const std::array<const os::Fd*, 1> fds{&pair->two};
  ASSERT_TRUE(os::send(host->stream(), mark, fds));
  auto second = std::make_unique<TestHost>(std::move(pair->one));
  pair->two = os::Fd{};
  host = std::move(second);
  ASSERT_TRUE(host->hear_end(1));
  EXPECT_EQ(host->heard[1].out.size(), 50'000U);
  EXPECT_EQ(host->heard[1].gaps, 0);
  EXPECT_EQ(host->heard[1].exits.at(0).value, 4U);
  EXPECT_EQ(host->run(shell(2, "echo on")).out, "on\n");
}

TEST_F(Guest, SignalsAProcessAndItsGroup) {
  begin();
  ASSERT_TRUE(host->send(shell(1, "exec sleep 100")));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[1].pid != 0; }));
  ASSERT_TRUE(host->send(frame::Signal{.process = 1, .number = SIGTERM}));
  ASSERT_TRUE(host->hear_end(1));
  EXPECT_TRUE(host->heard[1].exits.at(0).by_signal);
  EXPECT_EQ(host->heard[1].exits.at(0).value, unsigned{SIGTERM});
  ASSERT_TRUE(host->send(shell(2, "sleep 100 & echo up; wait")));
  ASSERT_TRUE(host->hear_until([&] { return !host->heard[2].out.empty(); }));
  ASSERT_TRUE(
      host->send(frame::Signal{.process = 2, .number = SIGKILL, .to = frame::SignalTo::group}));
  ASSERT_TRUE(host->hear_end(2));  // the pipe has no holder: the background sleep is dead too
}

// From the second program on the next spawner waits while a program runs: its sibling. Nothing
// where it does not come.
constexpr std::string_view kFindSpawner =
    "spawner=; n=0; until [ \"$spawner\" ] || [ $n = 400 ]; do n=$((n + 1)); "
    "for c in $(cat /proc/$PPID/task/$PPID/children); do [ $c = $$ ] || spawner=$c; done; done; ";

TEST_F(Guest, SurvivesItsSpawnersDeath) {
  begin();
  ASSERT_EQ(host->run(shell(1, "echo one")).out, "one\n");
  for (std::uint32_t process = 2; process < 6; ++process) {
    const Heard& heard = host->run(shell(
        process, std::string{kFindSpawner} + "[ \"$spawner\" ] && kill -9 $spawner; echo killed"));
    EXPECT_EQ(heard.out, "killed\n") << describe(heard);
  }
  EXPECT_EQ(host->run(shell(9, "echo alive")).out, "alive\n");
}

TEST_F(Guest, SignalsOfAWaitingSpawnerAreNotTheProgramsOwn) {
  begin();
  ASSERT_EQ(host->run(shell(1, "echo one")).out, "one\n");
  for (std::uint32_t process = 2; process < 6; ++process) {
    const Heard& heard =
        host->run(shell(process, std::string{kFindSpawner} +
                                     "for s in TERM INT HUP USR1 ALRM; do kill -$s $spawner; done; "
                                     "echo sent"));
    EXPECT_EQ(heard.out, "sent\n") << describe(heard);
  }
}

TEST_F(Guest, DoesNotMakeSpawnersForEverForWhoKillsThem) {
  begin();
  int refused = 0;
  for (std::uint32_t process = 1; process <= 12; ++process) {
    const Heard& heard = host->run(shell(
        process, std::string{kFindSpawner} + "for c in $(cat /proc/$PPID/task/$PPID/children); do "
                                             "[ $c = $$ ] || kill -9 $c; done"));
    if (heard.failures.empty()) continue;
    EXPECT_EQ(heard.failures[0].step, "spawner");
    EXPECT_EQ(heard.failures[0].error_number, EAGAIN);
    ++refused;
  }
  EXPECT_GE(refused, 1);
  ASSERT_TRUE(host->send(frame::AskUsage{.request = 1}));
  EXPECT_TRUE(host->hear_until([&] { return host->usages.contains(1); }));
}

TEST_F(Guest, GivesASpawnerUpThatDoesNotAnswer) {
  begin(setup(), std::chrono::milliseconds{1500});
  ASSERT_EQ(host->run(shell(1, "echo one")).out, "one\n");
  ASSERT_EQ(host->run(shell(2, std::string{kFindSpawner} +
                                   "for c in $(cat /proc/$PPID/task/$PPID/children); do "
                                   "[ $c = $$ ] || kill -STOP $c; done; echo stopped"))
                .out,
            "stopped\n");
  const Heard& heard = host->run(shell(3, "echo no"));
  ASSERT_EQ(heard.failures.size(), 1U);
  EXPECT_EQ(heard.failures[0].error_number, ETIMEDOUT);
  EXPECT_EQ(host->run(shell(4, "echo alive")).out, "alive\n");
}

TEST_F(Guest, EndsASpawnerThatHasNothingToDoAndMakesAnother) {
  begin(setup(), std::chrono::seconds{30}, std::chrono::milliseconds{100});
  const std::string children =
      "/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children";
  const auto count = [&] {
    std::ifstream file{children};
    return std::distance(std::istream_iterator<int>{file}, {});
  };
  ASSERT_TRUE(host->hear_hello());
  ::usleep(400'000);
  EXPECT_EQ(count(), 1) << "before anybody has come it waits: it was furnished ahead";
  ASSERT_EQ(host->run(shell(1, "echo one")).out, "one\n");
  const std::string find = std::string{kFindSpawner} + "echo $spawner";
  const std::string first = host->run(shell(2, find)).out;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (count() > 0 && std::chrono::steady_clock::now() < until) ::usleep(10'000);
  EXPECT_EQ(count(), 0);
  EXPECT_NE(host->run(shell(3, find)).out, first);
  // However often: its own doing is no death.
  for (std::uint32_t process = 4; process < 14; ++process) {
    ::usleep(150'000);
    EXPECT_EQ(host->run(shell(process, "echo on")).out, "on\n");
  }
}

TEST_F(Guest, PassesLongArgumentLists) {
  begin();
  frame::Start start = shell(1, "echo $#; printf %s \"$1\" | wc -c");
  start.arguments.emplace_back("name");
  for (int i = 0; i < 12; ++i) start.arguments.emplace_back(120'000, 'a');
  EXPECT_EQ(host->run(start).out, "12\n120000\n");
}

TEST_F(Guest, EndsOnWhatNoHostSends) {
  const auto broken = [&](std::span<const std::byte> bytes) {
    begin();
    if (!host->hear_hello() || !host->send_bytes(bytes)) return -1;
    host->hear_until([] { return false; });
    return wait();
  };
  ByteWriter out;
  out.integer(std::uint32_t{0});
  EXPECT_EQ(broken(out.bytes()), 2);
  out = ByteWriter{};
  out.integer(std::uint32_t{0xffffffff});
  EXPECT_EQ(broken(out.bytes()), 2);
  out = ByteWriter{};
  out.integer(std::uint32_t{1});
  out.integer(std::uint8_t{200});
  EXPECT_EQ(broken(out.bytes()), 2);
  EXPECT_EQ(broken(encode(frame::ToGuest{setup()})), 2);
  EXPECT_EQ(broken(encode(frame::ToGuest{frame::Signal{.number = 99}})), 2);
}

TEST_F(Guest, EndsWhenMoreInputComesThanTheWindowHolds) {
  begin();
  ASSERT_TRUE(host->send(shell(1, "sleep 100")));
  const std::string much(200'000, 'x');
  ASSERT_TRUE(host->send(frame::Input{.process = 1, .bytes = much}));
  ASSERT_TRUE(host->send(frame::Input{.process = 1, .offset = much.size(), .bytes = much}));
  EXPECT_FALSE(host->hear_end(1));
  EXPECT_EQ(wait(), 2);
}

TEST_F(Guest, FailsClosedWithTheStepThatCouldNotBeTaken) {
  frame::Setup unknown = setup();
  unknown.fences.filter = "permissive";
  begin(unknown);
  EXPECT_FALSE(host->hear_hello());
  ASSERT_EQ(host->heard[0].failures.size(), 1U);
  EXPECT_EQ(host->heard[0].failures[0].step, "filter");
  EXPECT_EQ(host->heard[0].failures[0].error_number, ENOENT);
  EXPECT_EQ(wait(), 1);
}

TEST_F(Guest, RefusesAProtocolThatItDoesNotSpeak) {
  frame::Setup newer = setup();
  newer.least_version = newer.most_version = frame::kGuestVersion + 1;
  begin(newer);
  EXPECT_FALSE(host->hear_hello());
  ASSERT_EQ(host->heard[0].failures.size(), 1U);
  EXPECT_EQ(host->heard[0].failures[0].step, "version");
  EXPECT_EQ(wait(), 1);
}

TEST_F(Guest, HasATerminalWithItsSizeAndItsInterruptKey) {
  begin();
  // A shell without the trap goes on where the key meets a child that is about to end.
  frame::Start start = shell(1,
                             "trap 'trap - INT; kill -INT $$' INT; stty size; "
                             "while :; do sleep 0.05; done");
  start.terminal = frame::WindowSize{.rows = 33, .columns = 111};
  ASSERT_TRUE(host->send(start));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[1].out == "33 111\r\n"; }))
      << host->heard[1].out;
  ASSERT_TRUE(host->send(frame::Input{.process = 1, .bytes = "\x03"}));
  ASSERT_TRUE(host->hear_end(1));
  EXPECT_EQ(host->heard[1].exits.at(0).value, unsigned{SIGINT});

  start = shell(2, "read line; stty size; cat; echo end");
  start.terminal = frame::WindowSize{};
  ASSERT_TRUE(host->send(start));
  ASSERT_TRUE(host->send(frame::Resize{.process = 2, .size = {.rows = 5, .columns = 6}}));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[2].pid != 0; }));
  ASSERT_TRUE(host->send(frame::Resize{.process = 2, .size = {.rows = 5, .columns = 6}}));
  ASSERT_TRUE(host->send(frame::Input{.process = 2, .bytes = "go\nhalf", .last = true}));
  ASSERT_TRUE(host->hear_end(2));
  EXPECT_NE(host->heard[2].out.find("5 6\r\n"), std::string::npos) << host->heard[2].out;
  EXPECT_NE(host->heard[2].out.find("end\r\n"), std::string::npos) << host->heard[2].out;
}

TEST_F(Guest, AnswersForItsDiskAndFiles) {
  begin();
  ASSERT_TRUE(host->send(frame::AskUsage{.request = 5}));
  ASSERT_TRUE(host->hear_until([&] { return host->usages.contains(5); }));
  EXPECT_GT(host->usages[5].disk.most_bytes, 0U);
  const auto reply = host->ask(
      {.request = 1, .act = frame::FileAct::read, .path = "/proc/self/oom_score_adj", .count = 20});
  EXPECT_EQ(reply.error_number, 0);
  EXPECT_FALSE(reply.bytes.empty());
  EXPECT_EQ(host->ask({.request = 2, .act = frame::FileAct::read, .path = "/no/such"}).error_number,
            ENOENT);
}

TEST_F(Guest, ListsWhatItHasNotForgottenAfterEachHello) {
  begin();
  ASSERT_TRUE(host->hear_hello());
  ASSERT_TRUE(host->processes);
  EXPECT_TRUE(host->processes.value_or(frame::Processes{}).known.empty());
  host->acknowledges = false;
  frame::Start start = shell(4, "printf abc; read line");
  ASSERT_TRUE(host->send(start));
  ASSERT_TRUE(host->hear_until([&] { return host->heard[4].out == "abc"; }));
  ASSERT_TRUE(host->send(frame::Acknowledge{4, frame::Stream::out, 2}));
  ASSERT_TRUE(host->send(frame::Input{.process = 4, .bytes = "x"}));
  host->acknowledges = true;
  ASSERT_EQ(host->run(shell(9, "true")).exits.size(), 1U);
  host->hellos = 0;
  ASSERT_TRUE(host->send(frame::Resume{}));
  ASSERT_TRUE(host->hear_hello());
  ASSERT_TRUE(host->hear_until([&] { return host->processes->highest == 9; }));
  const frame::Processes listed = host->processes.value_or(frame::Processes{});
  ASSERT_EQ(listed.known.size(), 1U);
  const frame::KnownProcess& known = listed.known[0];
  EXPECT_EQ(known.process, 4U);
  EXPECT_EQ(known.pid, host->heard[4].pid);
  EXPECT_EQ(known.name, "sh");
  EXPECT_EQ(known.out_acknowledged, 2U);
  EXPECT_EQ(known.input_given, 1U);
  EXPECT_FALSE(known.ended || known.input_ended || known.terminal);
}

}  // namespace
}  // namespace cordon::guest
