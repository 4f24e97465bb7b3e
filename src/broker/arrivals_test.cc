// SPDX-License-Identifier: Apache-2.0
#include "broker/arrivals.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::broker {
namespace {

constexpr Ticks kStart{};

frame::SourceToBroker read(std::uint64_t ticket, std::string host = "api.github.com",
                           std::string_view secret = "tuesday") {
  return frame::SourceRead{ticket, std::move(host), {as_bytes(secret)}};
}

std::string taken(Arrivals& arrivals, std::uint64_t ticket, const std::string& host) {
  const auto secret = arrivals.take(ticket, host);
  if (secret) return std::string{as_text(secret->bytes())};
  return std::string{to_string(secret.error().code())} + ": " + secret.error().text();
}

TEST(Arrivals, AreTakenOnce) {
  Arrivals arrivals;
  EXPECT_EQ(taken(arrivals, 7, "api.github.com"), "timeout: the source has not been read yet");
  arrivals.put(read(7), kStart);
  EXPECT_EQ(taken(arrivals, 8, "api.github.com"), "timeout: the source has not been read yet");
  EXPECT_EQ(taken(arrivals, 7, "api.github.com"), "tuesday");
  EXPECT_EQ(taken(arrivals, 7, "api.github.com"), "timeout: the source has not been read yet");
}

TEST(Arrivals, AreGoodForTheirHostOnlyAndGoneAfterAWrongOne) {
  Arrivals arrivals;
  arrivals.put(read(7), kStart);
  EXPECT_EQ(taken(arrivals, 7, "evil.example"), "denied: the source was read for another host");
  EXPECT_EQ(taken(arrivals, 7, "api.github.com"), "timeout: the source has not been read yet");
}

TEST(Arrivals, TellWhyNothingWasRead) {
  Arrivals arrivals;
  arrivals.put(frame::SourceFailed{7, "file:/etc/token: not found"}, kStart);
  EXPECT_EQ(taken(arrivals, 7, "api.github.com"), "unavailable: file:/etc/token: not found");
}

TEST(Arrivals, OfOneTicketAreNotReplaced) {
  Arrivals arrivals;
  arrivals.put(read(7), kStart);
  arrivals.put(read(7, "evil.example", "wednesday"), kStart);
  EXPECT_EQ(taken(arrivals, 7, "evil.example"),
            "unavailable: two sources were read for one ticket");
}

TEST(Arrivals, ThatNobodyAsksForGo) {
  Arrivals arrivals;
  EXPECT_EQ(arrivals.expire(kStart), std::nullopt);
  arrivals.put(read(7), kStart);
  const Ticks later = kStart + std::chrono::seconds{10};
  arrivals.put(read(8), later);
  EXPECT_EQ(arrivals.expire(later), kStart + Arrivals::kPatience);
  EXPECT_EQ(arrivals.expire(kStart + Arrivals::kPatience), later + Arrivals::kPatience);
  EXPECT_EQ(taken(arrivals, 7, "api.github.com"), "timeout: the source has not been read yet");
  EXPECT_EQ(taken(arrivals, 8, "api.github.com"), "tuesday");
}

TEST(Arrivals, AreBounded) {
  Arrivals arrivals;
  for (std::uint64_t ticket = 1; ticket <= Arrivals::kMost + 1; ++ticket) {
    arrivals.put(read(ticket), kStart);
  }
  EXPECT_EQ(taken(arrivals, Arrivals::kMost, "api.github.com"), "tuesday");
  EXPECT_EQ(taken(arrivals, Arrivals::kMost + 1, "api.github.com"),
            "timeout: the source has not been read yet");
}

}  // namespace
}  // namespace cordon::broker
