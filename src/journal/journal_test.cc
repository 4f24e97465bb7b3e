// SPDX-License-Identifier: Apache-2.0
// Many who wait are written together, in their order, each with its own answer.
#include "journal/journal.h"

#include <latch>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "async/scope.h"
#include "journal/journal_file_test.h"

namespace cordon::journal {
namespace {

class JournalTest : public JournalFile {
 protected:
  asio::io_context loop_{1};
};

Journal::Change add(std::string id) {
  return [id = std::move(id)](Ledger& ledger) {
    return ledger.add({.id = id, .tenant = "acme"}, std::nullopt, WallTime{});
  };
}

asio::awaitable<void> hold(Journal& journal, std::latch& until) {
  static_cast<void>(co_await journal.write(Durability::process, [&until](Ledger&) {
    until.wait();
    return Status{};
  }));
}

asio::awaitable<void> count(Journal& journal, int number, int& written) {
  const Status status = co_await journal.write(Durability::process, add(std::to_string(number)));
  if (status) ++written;
}

asio::awaitable<void> release(std::latch& until) {
  until.count_down();
  co_return;
}

// All of them wait before the first is written.
asio::awaitable<int> write_many(Journal& journal, int many, std::latch& all_wait) {
  int written = 0;
  async::Scope scope{co_await asio::this_coro::executor};
  scope.spawn(hold(journal, all_wait));
  for (int number = 0; number < many; ++number) scope.spawn(count(journal, number, written));
  scope.spawn(release(all_wait));
  co_await scope.join();
  co_return written;
}

TEST_F(JournalTest, WritesWhatWaitsTogether) {
  constexpr int kMany = 2000;
  std::uint64_t commits = 0;
  {
    Journal journal{open()};
    std::latch all_wait{1};
    EXPECT_EQ(async::block_on(loop_, write_many(journal, kMany, all_wait)), kMany);
    commits = journal.commits();
  }
  EXPECT_LE(commits, 2 + std::uint64_t{kMany} / Journal::kMostInOne) << "one commit for many";
  Ledger ledger = open();
  EXPECT_EQ(ledger.sandboxes()->size(), std::size_t{kMany});
}

TEST_F(JournalTest, OneRefusalIsNobodyElses) {
  Journal journal{open()};
  EXPECT_TRUE(async::block_on(loop_, journal.write(Durability::power, add("abc"))));
  const Status second = async::block_on(loop_, journal.write(Durability::power, add("abc")));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::exists);
  EXPECT_TRUE(async::block_on(loop_, journal.write(Durability::process, add("def"))));
}

}  // namespace
}  // namespace cordon::journal
