// SPDX-License-Identifier: Apache-2.0
// The class that a node's program uses.
#include <csignal>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "sandbox/process/launcher_link.h"
#include "service.h"

namespace cordon::service {
namespace {

using sandbox::LauncherLink;

class RootServiceLink : public RootService {
 protected:
  template <class T>
  T wait(asio::awaitable<T> task) {
    return async::block_on(loop_, std::move(task));
  }
  asio::io_context loop_{1};
};

TEST_F(RootServiceLink, LaunchesListsFetchesAndDestroys) {
  start();
  auto link = wait(LauncherLink::connect(socket()));
  ASSERT_TRUE(link) << link.error().text();
  auto launched = wait(link->launch(plan("abcd2345")));
  ASSERT_TRUE(launched) << launched.error().text();
  EXPECT_EQ(launched->about.id, "abcd2345");
  EXPECT_TRUE(launched->control && launched->pidfd && launched->range);
  auto held = wait(link->list());
  ASSERT_TRUE(held);
  ASSERT_EQ(held->size(), 1U);
  EXPECT_EQ(held->front().id, "abcd2345");
  auto fetched = wait(link->fetch("abcd2345"));
  ASSERT_TRUE(fetched) << fetched.error().text();
  EXPECT_EQ(fetched->about.pid, launched->about.pid);
  EXPECT_EQ(wait(link->fetch("zzzz2345")).error().code(), Errc::not_found);
  auto ended = wait(link->destroy("abcd2345"));
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_FALSE(is_alive(launched->pidfd));
  frame::LaunchPlan low = plan("abcd2346");
  low.no_new_privs = false;
  EXPECT_EQ(wait(link->launch(low)).error().text(), "plan_below_floor: no_new_privs is missing");
  EXPECT_FALSE(link->is_lost());
}

TEST_F(RootServiceLink, CallsThatOverlapGetEachTheirAnswer) {
  using namespace asio::experimental::awaitable_operators;
  start();
  auto link = wait(LauncherLink::connect(socket()));
  ASSERT_TRUE(link) << link.error().text();
  const frame::LaunchPlan one = plan("aaaa2345");
  const frame::LaunchPlan two = plan("bbbb2345");
  auto [first, second, listed] = wait(link->launch(one) && link->launch(two) && link->list());
  ASSERT_TRUE(first && second && listed);
  EXPECT_EQ(first->about.id, "aaaa2345");
  EXPECT_EQ(second->about.id, "bbbb2345");
  EXPECT_EQ(listed->size(), 2U);
}

TEST_F(RootServiceLink, IsRefusedWhereAnotherNodeIs) {
  start();
  auto one = wait(LauncherLink::connect(socket()));
  ASSERT_TRUE(one) << one.error().text();
  auto two = wait(LauncherLink::connect(socket()));
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code(), Errc::denied);
  EXPECT_EQ(two.error().text(), socket() + ": busy: another node is connected");
}

TEST_F(RootServiceLink, KnowsThatItsLauncherIsGoneAndHandsOnToTheNext) {
  start();
  auto link = wait(LauncherLink::connect(socket()));
  ASSERT_TRUE(link) << link.error().text();
  auto launched = wait(link->launch(plan("abcd2345")));
  ASSERT_TRUE(launched) << launched.error().text();
  {
    auto same = os::duplicate(launched->control);
    ASSERT_TRUE(same);
    // Before cordon-init stands it dies with its launcher.
    ASSERT_TRUE(guest::TestHost{*std::move(same)}.hear_hello());
  }
  stop(SIGKILL);
  EXPECT_EQ(wait(link->list()).error().code(), Errc::unavailable);
  EXPECT_TRUE(link->is_lost());
  start();
  auto next = wait(LauncherLink::connect(socket()));
  ASSERT_TRUE(next) << next.error().text();
  const Status stored = wait(next->deposit(std::move(*launched)));
  ASSERT_TRUE(stored) << stored.error().text();
  auto fetched = wait(next->fetch("abcd2345"));
  ASSERT_TRUE(fetched) << fetched.error().text();
  ASSERT_TRUE(fetched->control && fetched->range);
  guest::TestHost host{std::move(fetched->control)};
  EXPECT_EQ(host.run(guest::shell(1, "echo on")).out, "on\n");
  ASSERT_TRUE(wait(next->destroy("abcd2345")));
}

}  // namespace
}  // namespace cordon::service
