// SPDX-License-Identifier: Apache-2.0
// A node that dies, and the next one: processes live on, and no byte and no end is lost or told
// twice.
#include <cerrno>

#include "hosted.h"

namespace cordon::service {
namespace {

using frame::Stream;
using sandbox::Acknowledging;
using sandbox::Process;
using sandbox::ProcessEvent;
using sandbox::Sandbox;

// The next bytes of standard output, whatever else comes before them.
async::Task<frame::Output> next_output(Process& process) {
  while (true) {
    CO_TRY(ProcessEvent event, co_await process.next());
    if (auto* output = std::get_if<frame::Output>(&event)) co_return std::move(*output);
    if (std::holds_alternative<frame::Exited>(event)) {
      co_return Error{Errc::internal, "an end instead of output"};
    }
  }
}

class RootAdoption : public RootServiceHosted {
 protected:
  // A first node, which starts two programs, acknowledges a part and dies.
  void begin_and_die() {
    start();
    connect();
    const auto first = launch(plan("abcd2345"));
    ASSERT_TRUE(first);
    use(*first, [](Sandbox& inside) -> async::Task<void> {
      sandbox::Command command =
          shell_command("printf abcdef; read line; printf \"[$line]\"; exit 7");
      command.acknowledging = Acknowledging::by_caller;
      auto reader = inside.start(command);
      CO_TRY(const frame::Output output, co_await next_output(*reader));
      EXPECT_EQ(output.bytes, "abcdef");
      reader->acknowledge(Stream::out, 3);
      CO_TRY_DO(co_await reader->write("li", false));
      // One that has ended, and whose end nobody has recorded.
      command = shell_command("printf over >&2; exit 3");
      command.acknowledging = Acknowledging::by_caller;
      auto ended = inside.start(command);
      CO_TRY(const Said said, co_await hear_all(*ended));
      EXPECT_EQ(said.err, "over");
      // And one of which nothing is left.
      auto gone = inside.start(shell_command("true"));
      CO_TRY_DO(co_await hear_all(*gone));
      gone->acknowledge_exit();
      // An answer says that all that was sent before it is there.
      CO_TRY_DO(co_await inside.usage());
      co_return Status{};
    });
  }
};

TEST_F(RootAdoption, GoesOnWithProcessesOfAnother) {
  begin_and_die();
  const auto second = fetch("abcd2345");
  ASSERT_TRUE(second);
  use(*second, [](Sandbox& inside) -> async::Task<void> {
    CO_TRY(const frame::Processes known, co_await inside.processes());
    EXPECT_EQ(known.highest, 3U);
    EXPECT_EQ(known.known.size(), 2U);
    if (known.known.size() != 2) co_return Error{Errc::internal, "other processes"};
    EXPECT_EQ(known.known[0].name, "sh");
    EXPECT_NE(known.known[0].pid, 0U);
    EXPECT_FALSE(known.known[0].ended);
    EXPECT_EQ(known.known[0].out_acknowledged, 3U);
    EXPECT_EQ(known.known[0].input_given, 2U);
    EXPECT_TRUE(known.known[1].ended);

    EXPECT_EQ(inside.adopt(3, Acknowledging::by_caller), nullptr);
    auto reader = inside.adopt(1, Acknowledging::by_next);
    auto ended = inside.adopt(2, Acknowledging::by_next);
    if (!reader || !ended) co_return Error{Errc::internal, "not adopted"};
    CO_TRY(const frame::Output rest, co_await next_output(*reader));
    EXPECT_EQ(rest.offset, 3U);
    EXPECT_EQ(rest.bytes, "def");
    CO_TRY_DO(co_await reader->write("ne\n", false));
    CO_TRY(const Said said, co_await hear_all(*reader));
    EXPECT_EQ(said.out, "[line]");
    EXPECT_EQ(said.value, 7U);
    CO_TRY(const Said once_more, co_await hear_all(*ended));
    EXPECT_EQ(once_more.err, "over");
    EXPECT_EQ(once_more.value, 3U);
    // New ones take numbers that never were.
    auto fresh = inside.start(shell_command("printf new"));
    EXPECT_EQ(fresh->number(), 4U);
    CO_TRY(const Said hello, co_await hear_all(*fresh));
    EXPECT_EQ(hello.out, "new");
    co_return Status{};
  });
  ASSERT_TRUE(wait(launcher_link_->destroy("abcd2345")));
}

// A third sees nothing of what the second has acknowledged.
TEST_F(RootAdoption, SeesEachEndOnce) {
  begin_and_die();
  const auto second = fetch("abcd2345");
  ASSERT_TRUE(second);
  use(*second, [](Sandbox& inside) -> async::Task<void> {
    CO_TRY_DO(co_await inside.processes());
    auto ended = inside.adopt(2, Acknowledging::by_caller);
    if (!ended) co_return Error{Errc::internal, "not adopted"};
    CO_TRY(const Said said, co_await hear_all(*ended));
    ended->acknowledge(Stream::err, said.err.size());
    ended->acknowledge_exit();
    CO_TRY_DO(co_await inside.usage());
    co_return Status{};
  });
  const auto third = fetch("abcd2345");
  ASSERT_TRUE(third);
  use(*third, [](Sandbox& inside) -> async::Task<void> {
    CO_TRY(const frame::Processes known, co_await inside.processes());
    EXPECT_EQ(known.known.size(), 1U);
    if (!known.known.empty()) EXPECT_EQ(known.known[0].process, 1U);
    co_return Status{};
  });
}

}  // namespace
}  // namespace cordon::service
