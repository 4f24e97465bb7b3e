// SPDX-License-Identifier: Apache-2.0
#include "node/revocations.h"

#include <filesystem>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "journal/journal_file_test.h"

namespace cordon::node {
namespace {

RevocationId id_of(int fill) {
  RevocationId id{};
  id.fill(static_cast<std::byte>(fill));
  return id;
}

asio::awaitable<void> wait_for(Revocations& revocations, std::vector<RevocationId> ids,
                               int& woken) {
  co_await revocations.until_any(std::move(ids));
  ++woken;
}

asio::awaitable<void> revoke(Revocations& revocations, RevocationId id) {
  const WallTime until{std::chrono::hours{1'000'000}};
  EXPECT_TRUE(co_await revocations.revoke({id, until}, {}));
}

using RevocationsOf = journal::JournalFile;

TEST_F(RevocationsOf, ANodeHoldAlsoAfterItsDeath) {
  asio::io_context loop;
  const WallTime until{std::chrono::hours{1'000'000}};
  {
    journal::Journal journal{open()};
    Revocations revocations{loop.get_executor(), journal, {}};
    EXPECT_FALSE(revocations.has(id_of(1)));
    EXPECT_TRUE(async::block_on(loop, revocations.revoke({id_of(1), until}, {})));
    EXPECT_TRUE(revocations.has(id_of(1)));
    EXPECT_TRUE(revocations.has_any({id_of(2), id_of(1)}));
    EXPECT_FALSE(revocations.has_any({id_of(2)}));
  }
  auto ledger = open();
  const auto known = ledger.revocations();
  ASSERT_TRUE(known);
  journal::Journal journal{std::move(ledger)};
  const Revocations again{loop.get_executor(), journal, *known};
  EXPECT_TRUE(again.has(id_of(1)));
}

TEST_F(RevocationsOf, OneOfTheirOwnWakesThoseWhoWait) {
  asio::io_context loop;
  journal::Journal journal{open()};
  Revocations revocations{loop.get_executor(), journal, {}};
  int woken = 0;
  asio::co_spawn(loop, wait_for(revocations, {id_of(1), id_of(2)}, woken), asio::detached);
  asio::co_spawn(loop, wait_for(revocations, {id_of(3)}, woken), asio::detached);
  asio::co_spawn(loop, revoke(revocations, id_of(2)), asio::detached);
  loop.run_for(std::chrono::milliseconds{500});
  EXPECT_EQ(woken, 1);
  // The other goes with its loop.
}

RevocationId numbered(std::size_t number) {
  RevocationId id{};
  id[0] = static_cast<std::byte>(number % 256);
  id[1] = static_cast<std::byte>(number / 256);
  return id;
}

TEST_F(RevocationsOf, OneTenantFillNobodyElsesAndMakeRoomWhenTheyAreUseless) {
  asio::io_context loop;
  journal::Journal journal{open()};
  Revocations revocations{loop.get_executor(), journal, {}};
  const WallTime now{std::chrono::hours{1}};
  const WallTime until{std::chrono::hours{2}};
  const auto revoke_one = [&](std::size_t number, std::string tenant) {
    return async::block_on(loop,
                           revocations.revoke({numbered(number), until, std::move(tenant)}, now));
  };
  {
    std::vector<journal::Revocation> full;
    full.reserve(Revocations::kMostOfATenant);
    for (std::size_t i = 0; i < Revocations::kMostOfATenant; ++i) {
      full.push_back({numbered(i), until, "acme"});
    }
    Revocations known{loop.get_executor(), journal, full};
    const auto one_more =
        async::block_on(loop, known.revoke({numbered(60'000), until, "acme"}, now));
    ASSERT_FALSE(one_more);
    EXPECT_EQ(one_more.error().code(), Errc::exhausted);
    EXPECT_FALSE(known.has(numbered(60'000)));
    EXPECT_TRUE(async::block_on(loop, known.revoke({numbered(3), until, "acme"}, now)))
        << "one that is there";
    EXPECT_TRUE(async::block_on(loop, known.revoke({numbered(60'000), until, "other"}, now)));
    EXPECT_TRUE(async::block_on(loop, known.revoke({numbered(60'001), until, ""}, now)));
    const WallTime later = until + std::chrono::hours{1};
    EXPECT_TRUE(async::block_on(
        loop, known.revoke({numbered(60'002), later + std::chrono::hours{1}, "acme"}, later)));
    EXPECT_FALSE(known.has(numbered(3))) << "the token has expired, and so has this";
  }
  EXPECT_TRUE(revoke_one(1, "acme"));
}

}  // namespace
}  // namespace cordon::node
