// SPDX-License-Identifier: Apache-2.0
#include "egress/name_server.h"

#include <gtest/gtest.h>

#include "egress/dns_bytes_test.h"
#include "policy/policy_text_test.h"

namespace cordon::egress {
namespace {

class Asked : public ::testing::Test {
 protected:
  struct Answer {
    int code = -1;  // of the header
    std::optional<std::uint32_t> address;
  };

  Answer ask(std::string_view name, char type = 1) {
    Raw raw;
    raw.name = wire_name(name);
    raw.fixed[1] = type;
    const auto answer = server_.answer(raw.bytes(), DnsTransport::udp, now_);
    if (!answer || answer->size() < 12) return {};
    Answer said{.code = static_cast<int>((*answer)[3]) & 15, .address = {}};
    if (static_cast<int>((*answer)[7]) == 1) {
      std::uint32_t address = 0;
      for (std::size_t i = answer->size() - 4; i < answer->size(); ++i) {
        address = address << 8U | static_cast<std::uint32_t>((*answer)[i]);
      }
      said.address = address;
    }
    return said;
  }

  policy::Policy policy_ = policy::policy_from(R"([network]
egress_allowlist = ["api.a.example:443", "*.wild.example:443", "two.a.example:443"]
)");
  std::vector<std::byte> memory_ = std::vector<std::byte>(kNameSlotSize);
  WardNames names_ = *WardNames::open(memory_);
  Ticks now_{};
  EgressBudget budget_{{}, now_};
  std::vector<frame::NetRefused> refused_;
  Reports reports_{"k7f3", [this](const frame::EgressToNode& message) {
                     refused_.push_back(std::get<frame::NetRefused>(message));
                     return true;
                   }};
  NameServer server_{policy_, names_, budget_, reports_};

  static constexpr int kNoError = 0;
  static constexpr int kRefused = 5;
};

TEST_F(Asked, ForAnAllowedNameGivesTheSameAddressEveryTime) {
  ASSERT_TRUE(names_.pin(policy_));
  EXPECT_EQ(ask("api.a.example").address, kFirstPinned);
  EXPECT_EQ(ask("two.a.example").address, kFirstPinned + 1);
  EXPECT_EQ(ask("api.a.example").address, kFirstPinned);
  EXPECT_EQ(ask("x.wild.example").address, kFirstFresh);
  EXPECT_EQ(ask("y.wild.example").address, kFirstFresh + 1);
  EXPECT_EQ(ask("x.wild.example").address, kFirstFresh);
  EXPECT_TRUE(refused_.empty());
}

TEST_F(Asked, ForAnythingElseRefusesAndSaysWhatWasRefused) {
  for (const std::string_view name :
       {"a.example", "wild.example", "evil.example", "api.a.example.evil.example", "localhost",
        "xapi.a.example"}) {
    const Answer answer = ask(name);
    EXPECT_EQ(answer.code, kRefused) << name;
    EXPECT_EQ(answer.address, std::nullopt) << name;
  }
  ASSERT_EQ(refused_.size(), 6U);
  EXPECT_EQ(refused_[0].code, "CORDON-NET-NAME");
  EXPECT_EQ(refused_[0].tried, "look up a.example");
  EXPECT_EQ(refused_[0].rule, "cordon.toml:2");
}

TEST_F(Asked, ForOtherTypesGivesNoAddress) {
  constexpr char kAaaa = 28;
  constexpr char kTxt = 16;
  EXPECT_EQ(ask("api.a.example", kAaaa).code, kNoError);
  EXPECT_EQ(ask("api.a.example", kAaaa).address, std::nullopt);
  EXPECT_EQ(ask("api.a.example", kTxt).code, kRefused);
  EXPECT_EQ(ask("evil.example", kAaaa).code, kRefused);
}

TEST_F(Asked, ForTooManyNewNamesUnderAWildcardRefusesThem) {
  int given = 0;
  for (int i = 0; i < 1000; ++i) {
    given += ask("n" + std::to_string(i) + ".wild.example").address ? 1 : 0;
  }
  EXPECT_EQ(given, static_cast<int>(EgressBudget::kNamesAtOnce));
  EXPECT_EQ(refused_.back().code, "CORDON-NET-BUDGET");
  // Those that were given are answered on.
  EXPECT_EQ(ask("n0.wild.example").address, kFirstFresh);
}

TEST_F(Asked, AfterADeathGivesTheSameAddresses) {
  ASSERT_TRUE(names_.pin(policy_));
  EXPECT_EQ(ask("x.wild.example").address, kFirstFresh);
  auto again = WardNames::open(memory_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->table().address_of("x.wild.example"), kFirstFresh);
  EXPECT_EQ(again->table().address_of("two.a.example"), kFirstPinned + 1);
}

}  // namespace
}  // namespace cordon::egress
