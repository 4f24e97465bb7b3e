// SPDX-License-Identifier: Apache-2.0
#include "node/api_keys.h"

#include <algorithm>
#include <fstream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "journal/journal_file_test.h"
#include "token/tokens_test.h"

namespace cordon::node {
namespace {

constexpr WallTime kNow{token::kNow};

class ApiKeysOf : public journal::JournalFile {
 protected:
  token::Authority maker(std::vector<token::Caveat> more = {}) {
    return *token::try_at_node(token::token_with(std::move(more))).authority;
  }
  Result<ApiKeys::Made> make(ApiKeys& keys, const token::Authority& by,
                             std::vector<token::Caveat> more = {}, WallTime now = kNow) {
    return async::block_on(
        loop_, keys.make({.tenant = "acme", .label = "ci", .caveats = std::move(more)}, by, now));
  }
  bool remove(ApiKeys& keys, const std::string& tenant, const std::string& id) {
    const auto removed = async::block_on(loop_, keys.remove(tenant, id));
    return removed && *removed;
  }

  asio::io_context loop_;
};

TEST_F(ApiKeysOf, ANodeAreThereAfterItsDeathAndTheirTextsNowhere) {
  std::string text;
  std::string id;
  {
    journal::Journal journal{open()};
    const Revocations none{loop_.get_executor(), journal, {}};
    ApiKeys keys{loop_.get_executor(), journal, none, {}};
    const auto made = make(keys, maker());
    ASSERT_TRUE(made);
    text = made->text;
    id = made->key->id;
    EXPECT_EQ(keys.find(text), made->key);
    EXPECT_EQ(keys.find(text + "a"), nullptr);
    EXPECT_EQ(keys.find("cdnk_"), nullptr);
  }
  for (const char* end : {"", "-wal"}) {
    std::ifstream file{path() + end, std::ios::binary};
    const std::string all{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_EQ(all.find(text), std::string::npos) << end;
    EXPECT_EQ(all.find(text.substr(5, 20)), std::string::npos) << end;
  }
  auto ledger = open();
  const auto known = ledger.keys();
  ASSERT_TRUE(known);
  journal::Journal journal{std::move(ledger)};
  const Revocations none{loop_.get_executor(), journal, {}};
  const ApiKeys again{loop_.get_executor(), journal, none, *known};
  const auto key = again.find(text);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->id, id);
  EXPECT_EQ(key->label, "ci");
  EXPECT_EQ(key->authority.tenant(), "acme");
}

TEST_F(ApiKeysOf, AMakerAreNeverWiderThanIt) {
  journal::Journal journal{open()};
  const Revocations none{loop_.get_executor(), journal, {}};
  ApiKeys keys{loop_.get_executor(), journal, none, {}};
  const token::Authority by =
      maker({token::OperationIn{token::set_of({token::Operation::file_read})}});
  const auto wider = make(keys, by,
                          {token::OperationIn{token::OperationSet::all()},
                           token::ExpiresAt{token::in_seconds(99'999)}});
  ASSERT_TRUE(wider);
  const token::Authority& got = wider->key->authority;
  EXPECT_EQ(got.operations(), by.operations());
  EXPECT_EQ(got.expires(), by.expires());
  for (const token::RevocationId& id : by.revocations()) {
    EXPECT_EQ(std::ranges::count(got.revocations(), id), 1) << "it falls with its maker";
  }
  const auto other = make(keys, by, {token::TenantIs{"other"}});
  EXPECT_FALSE(other) << "of two tenants, so of none";
}

TEST_F(ApiKeysOf, AnOperatorAreForTheTenantThatIsNamed) {
  journal::Journal journal{open()};
  const Revocations none{loop_.get_executor(), journal, {}};
  ApiKeys keys{loop_.get_executor(), journal, none, {}};
  const auto made = make(keys, token::Authority{true});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->key->authority.tenant(), "acme");
  const token::Query of_node{.operation = token::Operation::node_read};
  EXPECT_FALSE(made->key->authority.may(of_node, token::kNow));
  const auto own = async::block_on(loop_, keys.make({}, token::Authority{true}, kNow));
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->key->authority.may(of_node, token::kNow));
}

TEST_F(ApiKeysOf, ATenantGoWithAllThatWereMadeWithThem) {
  journal::Journal journal{open()};
  const Revocations none{loop_.get_executor(), journal, {}};
  ApiKeys keys{loop_.get_executor(), journal, none, {}};
  const auto first = make(keys, maker());
  const auto second = make(keys, first->key->authority);
  const auto third = make(keys, second->key->authority);
  const auto beside = make(keys, maker());
  ASSERT_TRUE(third && beside);
  int woken = 0;
  const auto wait = [](ApiKeys* all, std::string id, int* count) -> asio::awaitable<void> {
    co_await all->until_gone(std::move(id));
    ++*count;
  };
  EXPECT_FALSE(remove(keys, "other", second->key->id)) << "another tenant's";
  EXPECT_FALSE(remove(keys, "acme", "none"));
  const auto take = [](ApiKeys* all, std::string id) -> asio::awaitable<void> {
    const auto removed = co_await all->remove("acme", std::move(id));
    EXPECT_TRUE(removed && *removed);
  };
  loop_.restart();
  asio::co_spawn(loop_, wait(&keys, third->key->id, &woken), asio::detached);
  asio::co_spawn(loop_, wait(&keys, beside->key->id, &woken), asio::detached);
  asio::co_spawn(loop_, take(&keys, second->key->id), asio::detached);
  loop_.run_for(std::chrono::milliseconds{500});
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(keys.find(first->text));
  EXPECT_FALSE(keys.find(second->text));
  EXPECT_FALSE(keys.find(third->text));
  EXPECT_TRUE(keys.find(beside->text));
  // The other waits on, and goes with its loop.
}

TEST_F(ApiKeysOf, ATenantAreBoundedAndUselessOnesMakeRoom) {
  journal::Journal journal{open()};
  const Revocations none{loop_.get_executor(), journal, {}};
  ApiKeys keys{loop_.get_executor(), journal, none, {}};
  const token::Caveat soon = token::ExpiresAt{token::in_seconds(10)};
  for (std::size_t i = 0; i < ApiKeys::kMostOfATenant; ++i)
    ASSERT_TRUE(make(keys, maker(), {soon}));
  const auto full = make(keys, maker());
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Errc::exhausted);
  EXPECT_TRUE(make(keys, maker(), {}, kNow + std::chrono::seconds{11}));
  EXPECT_EQ(keys.list("acme").size(), 1U);
}

}  // namespace
}  // namespace cordon::node
