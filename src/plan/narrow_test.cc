// SPDX-License-Identifier: Apache-2.0
#include "plan/narrow.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/digest.h"
#include "plan/lowering_test.h"
#include "policy/parse.h"

namespace cordon::plan {
namespace {

constexpr std::string_view kWide = R"(
[network]
mode = "restricted"
egress_allowlist = ["api.example.com:443", "git.example.com:443"]
ingress = [8080, 9090]
connections = 8
[resources]
timeout_seconds = 600
)";

Lowered wide() {
  Situation situation = situation_of();
  situation.has_tunnels = true;
  return lowered(kWide, full_host(false), situation);
}

Result<Lowered> narrowed(const Lowered& lowered, std::string_view json,
                         policy::Problems& problems) {
  TRY(policy::PolicyDocument by, policy::parse(json, "request", policy::Syntax::json, &problems));
  return narrow(lowered, std::move(by), problems);
}
Lowered narrowed(const Lowered& lowered, std::string_view json) {
  policy::Problems problems{"request"};
  auto narrower = narrowed(lowered, json, problems);
  if (!narrower) throw std::logic_error{narrower.error().text()};
  return *std::move(narrower);
}

const frame::Serve& network_of(const Lowered& lowered) {
  if (!lowered.network) throw std::logic_error{"it has no network"};
  return *lowered.network;
}

TEST(Narrow, AsksOneMoreDocumentOfTheNetwork) {
  const Lowered before = wide();
  const Lowered after = narrowed(
      before, R"({"network": {"egress_denylist": ["git.example.com"], "connections": 3}})");
  ASSERT_EQ(network_of(after).documents.size(), network_of(before).documents.size() + 1);
  const frame::NetDocument& last = network_of(after).documents.back();
  EXPECT_EQ(last.origin, static_cast<std::uint8_t>(policy::Origin::workspace));
  ASSERT_EQ(last.deny.size(), 1U);
  EXPECT_EQ(last.deny.front().host, "git.example.com");
  EXPECT_EQ(network_of(after).budgets.connections, 3U);
  EXPECT_NE(digest_of(after), digest_of(before));
  EXPECT_EQ(after.ingress, before.ingress) << "it was not spoken of";
  EXPECT_EQ(after.plan, before.plan);
}

TEST(Narrow, KeepsWhatIsNarrowerAlready) {
  const Lowered before = wide();
  const Lowered after = narrowed(before, R"({
    "network": {"mode": "public", "connections": 100, "ingress": [8080, 9090, 22]},
    "resources": {"timeout_seconds": 6000}})");
  EXPECT_EQ(network_of(after).budgets.connections, 8U);
  EXPECT_EQ(after.ingress, (std::vector<std::uint16_t>{8080, 9090}));
  EXPECT_EQ(after.budgets.wall, std::chrono::seconds{600});
}

TEST(Narrow, TakesPortsAndBudgets) {
  const Lowered after = narrowed(wide(), R"({
    "network": {"ingress": [9090]},
    "resources": {"timeout_seconds": 60, "cpu_seconds": 5, "output_limit": "1Mi",
                  "egress_limit": "2Ki"}})");
  EXPECT_EQ(after.ingress, std::vector<std::uint16_t>{9090});
  EXPECT_EQ(after.budgets.wall, std::chrono::seconds{60});
  EXPECT_EQ(after.budgets.cpu, std::chrono::seconds{5});
  EXPECT_EQ(after.budgets.output, 1U << 20U);
  EXPECT_EQ(network_of(after).budgets.bytes, 2048U);
  EXPECT_EQ(narrowed(after, R"({"network": {"ingress": "deny_all"}})").ingress.size(), 0U);
}

TEST(Narrow, LeavesOfEveryPortThoseThatItNames) {
  Situation situation = situation_of();
  situation.has_tunnels = true;
  const Lowered open =
      lowered("[network]\ningress = \"every_port\"\n", full_host(false), situation);
  const auto after = [&](std::string_view json) { return narrowed(open, json).ingress; };
  EXPECT_EQ(after(R"({"network": {"ingress": [9090, 80]}})"),
            (std::vector<std::uint16_t>{80, 9090}));
  EXPECT_EQ(after(R"({"network": {"ingress": "deny_all"}})"), std::vector<std::uint16_t>{});
  EXPECT_EQ(after(R"({"network": {"ingress": "every_port"}})"), open.ingress);
  EXPECT_EQ(after(R"({"resources": {"cpu_seconds": 5}})"), open.ingress) << "it was not spoken of";
}

TEST(Narrow, SaysWhatHoldsNow) {
  const Lowered after =
      narrowed(wide(), R"({"network": {"ingress": [9090]}, "resources": {"cpu_seconds": 5}})");
  const auto detail = [&](std::string_view name) {
    return std::ranges::find(after.enforcement.mechanisms, name, &Mechanism::name)->detail;
  };
  EXPECT_EQ(detail("ingress"), "tunnels to 9090 alone");
  EXPECT_EQ(detail("cpu_time"), "5 s, narrowed while it lived");
  EXPECT_TRUE(detail("network").ends_with("request, narrowed while it lived")) << detail("network");
  EXPECT_EQ(narrowed(after, R"({"network": {"mode": "none"}})").enforcement, after.enforcement)
      << "said once";
}

TEST(Narrow, RefusesWhatOnlyALaunchCanSet) {
  for (const char* const document :
       {R"({"filesystem": {"hide": ["**/.env"]}})", R"({"resources": {"memory_limit": "64Mi"}})",
        R"({"process": {"user": "user"}})", R"({"syscalls": {"profile": "strict"}})",
        R"({"extends": ["strict"]})", R"({"isolation": "process"})",
        R"({"network": {"ask": false}})", R"({"credentials": {"mode": "none"}})"}) {
    policy::Problems problems{"request"};
    const auto refused = narrowed(wide(), document, problems);
    ASSERT_FALSE(refused) << document;
    EXPECT_EQ(refused.error().code(), Errc::invalid);
    ASSERT_EQ(problems.all().size(), 1U) << document;
    EXPECT_NE(problems.all().front().message.find("is set when a sandbox is launched"),
              std::string::npos)
        << problems.all().front().message;
  }
  policy::Problems problems{"request"};
  EXPECT_FALSE(narrowed(wide(), R"({"network": {"host_ports": [80]}})", problems))
      << "things of the host are named by nobody but its owner";
}

TEST(Narrow, HasABound) {
  Lowered lowered = wide();
  constexpr std::string_view kSame = R"({"network": {"connections": 4}})";
  for (std::size_t i = 0; i < kMostNarrowings; ++i) lowered = narrowed(lowered, kSame);
  policy::Problems problems{"request"};
  const auto refused = narrowed(lowered, kSame, problems);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::exhausted);
}

}  // namespace
}  // namespace cordon::plan
