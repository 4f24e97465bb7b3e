// SPDX-License-Identifier: Apache-2.0
// Processes at the host's end: who acknowledges, and going on with what another host had started.
#include "sandbox/process_channels.h"

#include <cerrno>

#include "sandbox/fake_guest_test.h"

namespace cordon::sandbox {
namespace {

using frame::Stream;

class ProcessLink : public LinkToAFake {
 protected:
  ProcessChannels& processes() { return link_->processes(); }
  std::uint32_t start(Acknowledging acknowledging) {
    return processes().start({.arguments = {"sh"}, .acknowledging = acknowledging});
  }
  template <class T>
  T next(std::uint32_t process) {
    const auto event = begin(processes().next(process));
    if (!comes(event) || !**event || !std::holds_alternative<T>(***event)) {
      ADD_FAILURE() << "another event";
      return {};
    }
    return std::get<T>(***event);
  }
  // What has been sent is read by the guest.
  void settle() {
    run_until([] { return false; }, std::chrono::milliseconds{20});
  }
};

TEST_F(ProcessLink, AcknowledgesWithTheNextQuestion) {
  open(Origin::launched);
  const std::uint32_t process = start(Acknowledging::by_next);
  say(frame::Started{process, 5});
  say(frame::Output{process, Stream::out, 0, "abc"});
  say(frame::Exited{.process = process});
  next<frame::Started>(process);
  EXPECT_EQ(next<frame::Output>(process).bytes, "abc");
  settle();
  EXPECT_TRUE(heard_of<frame::Acknowledge>().empty());
  next<frame::Exited>(process);
  settle();
  ASSERT_EQ(heard_of<frame::Acknowledge>().size(), 1U);
  EXPECT_EQ(heard_of<frame::Acknowledge>()[0].offset, 3U);
  EXPECT_TRUE(heard_of<frame::AcknowledgeExit>().empty());
}

TEST_F(ProcessLink, LeavesAcknowledgingToACallerWhoWantsIt) {
  open(Origin::launched);
  const std::uint32_t process = start(Acknowledging::by_caller);
  say(frame::Started{process, 5});
  say(frame::Output{process, Stream::out, 0, "abcd"});
  say(frame::Output{process, Stream::err, 0, "e"});
  say(frame::OutputEnd{process, Stream::out, 4});
  say(frame::OutputEnd{process, Stream::err, 1});
  say(frame::Exited{.process = process});
  next<frame::Started>(process);
  next<frame::Output>(process);
  next<frame::Output>(process);
  next<frame::OutputEnd>(process);
  next<frame::OutputEnd>(process);
  next<frame::Exited>(process);
  settle();
  EXPECT_TRUE(heard_of<frame::Acknowledge>().empty());
  EXPECT_TRUE(heard_of<frame::AcknowledgeExit>().empty());
  processes().acknowledge_exit(process);
  processes().acknowledge_exit(process);
  settle();
  EXPECT_EQ(heard_of<frame::AcknowledgeExit>().size(), 1U);
  processes().acknowledge(process, Stream::out, 2);
  processes().acknowledge(process, Stream::out, 1);   // known
  processes().acknowledge(process, Stream::err, 99);  // never more than was received
  settle();
  const auto told = heard_of<frame::Acknowledge>();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0], (frame::Acknowledge{process, Stream::out, 2}));
  EXPECT_EQ(told[1], (frame::Acknowledge{process, Stream::err, 1}));
  EXPECT_EQ(processes().size(), 1U);
  processes().acknowledge(process, Stream::out, 4);
  processes().leave(process);
  EXPECT_EQ(processes().size(), 0U) << "nothing is held of one that is over";
}

TEST_F(ProcessLink, KeepsOneThatWasLeftForWhoTakesItUpAgain) {
  open(Origin::launched);
  const std::uint32_t process = start(Acknowledging::by_caller);
  processes().leave(process);
  say(frame::Started{process, 5});
  say(frame::Output{process, Stream::out, 0, "abc"});
  settle();
  EXPECT_TRUE(heard_of<frame::Acknowledge>().empty());
  EXPECT_TRUE(processes().adopt(process, Acknowledging::by_caller));
  next<frame::Started>(process);
  EXPECT_EQ(next<frame::Output>(process).bytes, "abc");
}

TEST_F(ProcessLink, TakesFramesThatCrossTheLastAcknowledgement) {
  open(Origin::launched);
  const std::uint32_t process = start(Acknowledging::by_caller);
  say(frame::Failed{.process = process, .step = "exec", .error_number = 2});
  next<frame::Failed>(process);
  processes().acknowledge_exit(process);
  processes().leave(process);
  ASSERT_EQ(processes().size(), 0U);
  say(frame::InputTaken{process, 0});
  settle();
  const std::uint32_t other = start(Acknowledging::by_caller);
  say(frame::Started{other, 6});
  next<frame::Started>(other);
  // But of one that was never started nothing is taken.
  say(frame::InputTaken{other + 1, 0});
  const auto end = begin(processes().next(other));
  ASSERT_TRUE(comes(end));
  EXPECT_EQ((*end)->error().text(), "agent_protocol_error: a process that was never started");
}

TEST_F(ProcessLink, GoesOnWithWhatAnotherHostHadStarted) {
  open(Origin::fetched);
  const auto known = begin(processes().known());
  const std::uint32_t early = start(Acknowledging::by_caller);
  EXPECT_EQ(next<frame::Failed>(early).error_number, EAGAIN);
  say(frame::Hello{});
  say(frame::Processes{
      .highest = 9,
      .known = {
          {.process = 4, .pid = 12, .name = "sh", .out_acknowledged = 1000, .input_given = 70},
          {.process = 7, .ended = true, .end_acknowledged = true, .err_acknowledged = 3}}});
  say(frame::Started{4, 12});
  say(frame::InputTaken{4, 60});
  say(frame::Output{4, Stream::out, 1000, "more"});
  ASSERT_TRUE(comes(known));
  ASSERT_TRUE(**known);
  EXPECT_EQ((**known)->known.size(), 2U);
  EXPECT_FALSE(processes().adopt(5, Acknowledging::by_caller));
  ASSERT_TRUE(processes().adopt(4, Acknowledging::by_caller));
  EXPECT_EQ(next<frame::Started>(4).pid, 12U);
  const auto output = next<frame::Output>(4);
  EXPECT_EQ(output.offset, 1000U);
  EXPECT_EQ(output.bytes, "more");
  processes().acknowledge(4, Stream::out, 1004);
  ASSERT_TRUE(comes(begin(processes().write(4, "xyz", true))));
  // The next number is above all that ever were.
  EXPECT_EQ(start(Acknowledging::by_caller), 10U);
  settle();
  EXPECT_TRUE(heard_of<frame::Resume>().empty()) << "the guest has begun by itself";
  ASSERT_EQ(heard_of<frame::Acknowledge>().size(), 1U);
  EXPECT_EQ(heard_of<frame::Acknowledge>()[0].offset, 1004U);
  ASSERT_EQ(heard_of<frame::Input>().size(), 1U);
  EXPECT_EQ(heard_of<frame::Input>()[0].offset, 70U);
  // One whose end is known only brings its last bytes.
  ASSERT_TRUE(processes().adopt(7, Acknowledging::by_caller));
  say(frame::Output{7, Stream::err, 3, "late"});
  EXPECT_EQ(next<frame::Output>(7).bytes, "late");
}

TEST_F(ProcessLink, BelievesNoListThatCannotBe) {
  const frame::Processes lists[] = {
      {.highest = frame::kLastProcess + 1},
      {.highest = 3, .known = {{.process = 4}}},
      {.highest = 3, .known = {{.process = 0}}},
      {.highest = 3, .known = {{.process = 2}, {.process = 2}}},
  };
  for (const frame::Processes& list : lists) {
    open(Origin::fetched);
    const auto known = begin(processes().known());
    say(list);
    ASSERT_TRUE(comes(known));
    EXPECT_FALSE(**known) << list.highest;
  }
  // A sandbox of our own has nothing that we have not started.
  open(Origin::launched);
  const auto known = begin(processes().known());
  say(frame::Processes{.highest = 1, .known = {{.process = 1}}});
  ASSERT_TRUE(comes(known));
  EXPECT_FALSE(**known);
}

}  // namespace
}  // namespace cordon::sandbox
