// SPDX-License-Identifier: Apache-2.0
// Files of a sandbox as a node reads and writes them: inside, with the workload's rights.
#include <cerrno>
#include <chrono>
#include <iostream>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "hosted.h"

namespace cordon::service {
namespace {

using frame::FileAct;
using frame::FileReply;
using sandbox::Sandbox;

TEST_F(RootServiceHosted, WritesListsReadsAndRemovesFilesInside) {
  start();
  connect();
  const auto sandbox = launch(plan("abcd2345"));
  ASSERT_TRUE(sandbox);
  use(*sandbox, [](Sandbox& inside) -> async::Task<void> {
    CO_TRY(const FileReply wrote, co_await inside.file({.act = FileAct::write,
                                                        .path = "/tmp/a/b/f",
                                                        .bytes = "hello",
                                                        .mode = 0640,
                                                        .parents = true}));
    EXPECT_EQ(wrote.error_number, 0);
    CO_TRY(const FileReply list, co_await inside.file({.act = FileAct::list, .path = "/tmp/a/b"}));
    EXPECT_EQ(list.entries.size(), 1U);
    if (list.entries.size() == 1) {
      EXPECT_EQ(list.entries[0].user, 1000U) << "the workload's id";
      EXPECT_EQ(list.entries[0].mode, 0640U);
    }
    auto process = inside.start(shell_command("cat /tmp/a/b/f; ln -s /usr/bin /tmp/a/out"));
    CO_TRY(const Said said, co_await hear_all(*process));
    EXPECT_EQ(said.out, "hello");
    // The workload's rights, and no more.
    CO_TRY(const FileReply denied, co_await inside.file({.act = FileAct::write, .path = "/usr/x"}));
    EXPECT_NE(denied.error_number, 0);
    CO_TRY(const FileReply absent, co_await inside.file({.act = FileAct::read, .path = "/tmp/x"}));
    EXPECT_EQ(absent.error_number, ENOENT);
    // A bound holds; without it the link is followed.
    for (const bool bound : {true, false}) {
      CO_TRY(const FileReply read, co_await inside.file({.act = FileAct::read,
                                                         .path = "/tmp/a/out/env",
                                                         .count = 1,
                                                         .beneath = bound ? "/tmp/a" : ""}));
      EXPECT_EQ(read.error_number, bound ? EXDEV : 0);
    }
    CO_TRY(const FileReply removed,
           co_await inside.file({.act = FileAct::remove, .path = "/tmp/a"}));
    EXPECT_EQ(removed.error_number, 0);
    co_return Status{};
  });
}

// Where the filter has no openat2 a bound is refused, and nothing is done without it.
// Under this filter there is no openat2, whose flags it could not read.
TEST_F(RootServiceHosted, HoldsABoundWithoutOpenat2) {
  start();
  connect();
  frame::LaunchPlan plan = this->plan("abcd2345");
  plan.setup.fences.filter = "strict+nosetid";
  const auto sandbox = launch(plan);
  ASSERT_TRUE(sandbox);
  use(*sandbox, [](Sandbox& inside) -> async::Task<void> {
    const auto write = [&](std::string path, std::string beneath) {
      return inside.file({.act = FileAct::write,
                          .path = std::move(path),
                          .beneath = std::move(beneath),
                          .exclusive = true});
    };
    CO_TRY(const FileReply wrote, co_await write("/tmp/f", "/tmp"));
    EXPECT_EQ(wrote.error_number, 0);
    CO_TRY(const FileReply refused, co_await write("/tmp/../tmp/g", "/tmp"));
    EXPECT_EQ(refused.error_number, EXDEV);
    CO_TRY(const FileReply unbound, co_await write("/tmp/../tmp/g", ""));
    EXPECT_EQ(unbound.error_number, 0);
    co_return Status{};
  });
}

async::Task<std::uint64_t> read_every(Sandbox& inside, int number, int step, int count) {
  std::uint64_t sum = 0;
  for (; number < count; number += step) {
    CO_TRY(const FileReply reply,
           co_await inside.file(
               {.act = FileAct::read,
                .path = "/tmp/large",
                .offset = std::uint64_t{frame::kMostFileBytes} * static_cast<unsigned>(number),
                .count = frame::kMostFileBytes}));
    if (reply.error_number != 0) co_return Error::from_errno("read", reply.error_number);
    EXPECT_EQ(reply.bytes.size(), frame::kMostFileBytes);
    EXPECT_TRUE(reply.bytes.starts_with(std::to_string(number) + "x"));
    sum += reply.bytes.size();
  }
  co_return sum;
}

TEST_F(RootServiceHosted, MovesLargeFilesInParts) {
  start();
  connect();
  frame::LaunchPlan plan = this->plan("abcd2345");
  plan.limits.memory = std::uint64_t{256} << 20U;
  plan.disk.bytes = std::uint64_t{100} << 20U;
  const auto sandbox = launch(plan);
  ASSERT_TRUE(sandbox);
  use(*sandbox, [](Sandbox& inside) -> async::Task<void> {
    using namespace asio::experimental::awaitable_operators;
    constexpr int kParts = 50;
    const auto begin = std::chrono::steady_clock::now();
    for (int number = 0; number < kParts; ++number) {
      std::string part = std::to_string(number) + "x";
      part.resize(frame::kMostFileBytes, 'y');
      CO_TRY(const FileReply wrote,
             co_await inside.file(
                 {.act = FileAct::write,
                  .path = "/tmp/large",
                  .offset = std::uint64_t{frame::kMostFileBytes} * static_cast<unsigned>(number),
                  .bytes = std::move(part)}));
      if (wrote.error_number != 0) co_return Error::from_errno("write", wrote.error_number);
    }
    const auto written = std::chrono::steady_clock::now();
    auto [one, two, three, four] =
        co_await (read_every(inside, 0, 4, kParts) && read_every(inside, 1, 4, kParts) &&
                  read_every(inside, 2, 4, kParts) && read_every(inside, 3, 4, kParts));
    const auto read = std::chrono::steady_clock::now();
    EXPECT_TRUE(one && two && three && four);
    if (one && two && three && four) {
      EXPECT_EQ(*one + *two + *three + *four, std::uint64_t{frame::kMostFileBytes} * kParts);
    }
    std::cout << "50 MiB written in " << std::chrono::duration<double>(written - begin).count()
              << " s, read in " << std::chrono::duration<double>(read - written).count() << " s\n";
    co_return Status{};
  });
}

}  // namespace
}  // namespace cordon::service
