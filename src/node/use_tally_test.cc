// SPDX-License-Identifier: Apache-2.0
#include "node/use_tally.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

using namespace std::chrono_literals;

constexpr Ticks kStart = Ticks{} + 1000s;

NetworkUsed request(const std::string& host, const std::string& path, std::uint32_t status = 200) {
  return {.host = host,
          .port = 443,
          .address = "93.184.216.34",
          .method = "GET",
          .path = path,
          .status = status,
          .ended = true,
          .bytes_out = 10,
          .bytes_in = 100};
}

TEST(UseTally, WritesEachUseOfAQuietRun) {
  UseTally tally;
  for (int second = 0; second < 5; ++second) {
    for (std::size_t i = 0; i < UseTally::kEach; ++i) {
      const auto use = request("a.example", "/" + std::to_string(i));
      EXPECT_EQ(tally.take(use, kStart + std::chrono::seconds{second}), std::vector{use});
    }
  }
  EXPECT_TRUE(tally.flush().empty());
}

TEST(UseTally, WritesOneLineForThoseThatAreAlikeWhenThereAreTooMany) {
  UseTally tally;
  std::size_t written = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto host = i % 2 == 0 ? "a.example" : "b.example";
    written += tally.take(request(host, "/" + std::to_string(i)), kStart).size();
  }
  EXPECT_EQ(written, UseTally::kEach);
  const auto next = tally.take(request("a.example", "/next"), kStart + 1s);
  ASSERT_EQ(next.size(), 3U);
  EXPECT_EQ(next[0], (NetworkUsed{.host = "a.example",
                                  .port = 443,
                                  .status = 200,
                                  .ended = true,
                                  .bytes_out = 49'000,
                                  .bytes_in = 490'000,
                                  .count = 4'900}));
  EXPECT_EQ(next[1].host, "b.example");
  EXPECT_EQ(next[2], request("a.example", "/next"));
}

TEST(UseTally, TellsAnswersApartAndLosesNone) {
  UseTally tally;
  std::uint64_t all = 0;
  const auto count = [&](const std::vector<NetworkUsed>& told) {
    for (const NetworkUsed& use : told) all += use.count;
  };
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    count(tally.take(request("h" + std::to_string(i % 900) + ".example", "/", 200 + i % 3),
                     kStart + std::chrono::milliseconds{i}));
  }
  const auto rest = tally.flush();
  EXPECT_LE(rest.size(), UseTally::kKinds + 2);
  count(rest);
  EXPECT_EQ(all, 5'000U);
}

}  // namespace
}  // namespace cordon::node
