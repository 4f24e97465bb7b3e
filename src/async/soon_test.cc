// SPDX-License-Identifier: Apache-2.0
#include "async/soon.h"

#include <optional>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace cordon::async {
namespace {

using std::chrono::milliseconds;

TEST(Soon, IsDoneOnceForAllWhoWantedIt) {
  asio::io_context loop;
  int done = 0;
  Soon soon{loop.get_executor(), milliseconds{5}, [&] { ++done; }};
  for (int i = 0; i < 3; ++i) soon.want();
  EXPECT_EQ(done, 0);
  loop.run();
  EXPECT_EQ(done, 1);
  soon.want();
  loop.restart();
  loop.run();
  EXPECT_EQ(done, 2);
}

TEST(Soon, MayBeWantedAgainByWhatIsDone) {
  asio::io_context loop;
  int done = 0;
  std::optional<Soon> soon;
  soon.emplace(loop.get_executor(), milliseconds{1}, [&] {
    if (++done < 3) soon->want();
  });
  soon->want();
  loop.run();
  EXPECT_EQ(done, 3);
}

TEST(Soon, IsNotDoneOnceItIsGone) {
  asio::io_context loop;
  int done = 0;
  {
    Soon soon{loop.get_executor(), milliseconds{1}, [&] { ++done; }};
    soon.want();
  }
  loop.run();
  EXPECT_EQ(done, 0);
}

// Its timer has fired, and what it calls waits in the loop behind who destroys it.
TEST(Soon, IsNotDoneWhereItGoesInTheSameTurn) {
  asio::io_context loop;
  int done = 0;
  std::optional<Soon> soon;
  soon.emplace(loop.get_executor(), milliseconds{0}, [&] { ++done; });
  asio::steady_timer first{loop, milliseconds{0}};
  first.async_wait([&](const boost::system::error_code&) { soon.reset(); });
  soon->want();
  loop.run();
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace cordon::async
