// SPDX-License-Identifier: Apache-2.0
// What lowering sends is decided by the egress as the policy itself decides.
#include <gtest/gtest.h>

#include "egress/net_policy.h"
#include "plan/network.h"
#include "policy/random_policy_test.h"

namespace cordon {
namespace {

using policy::Policy;
using policy::random::Dice;
using policy::random::Writer;

policy::PolicyDocument document_of(const std::string& text, const char* file) {
  auto document = policy::parse(text, file, policy::Syntax::toml);
  if (!document) throw std::logic_error{document.error().text() + "\n" + text};
  return *std::move(document);
}

// What random_document writes of the network and of grants only: the rest does not travel.
std::string network_text(Dice& dice, Writer writer) {
  std::string text;
  if (dice.percent(90)) policy::random::add_network(dice, writer, text);
  if (writer == Writer::workspace && dice.percent(30)) text += "[credentials]\nmode = \"none\"\n";
  if (writer == Writer::user && text.find("\"a.example\"") != std::string::npos) {
    policy::random::add_grants(dice, text);
  }
  return text;
}

std::optional<Policy> drawn_policy(Dice& dice) {
  auto whole = policy::check(document_of(network_text(dice, Writer::user), "cordon.toml"),
                             policy::Origin::user, {});
  if (!whole) return std::nullopt;
  if (dice.percent(40)) {
    const auto site = policy::check(document_of(network_text(dice, Writer::user), "site.toml"),
                                    policy::Origin::site, {});
    if (!site) return std::nullopt;
    whole = policy::attenuate(*site, *whole);
  }
  if (!dice.percent(40)) return *whole;
  auto narrower = policy::narrow(
      *whole, document_of(network_text(dice, Writer::workspace), "ws/cordon.toml"), {});
  if (!narrower) return std::nullopt;
  return *narrower;
}

// Over a wire, as it really goes.
Policy there(const Policy& policy) {
  const auto bytes = frame::encode(frame::NodeToEgress{plan::serve_of(policy, "k7f3")});
  const auto message = frame::decode_node_to_egress(bytes);
  if (!message) throw std::logic_error{message.error().text()};
  auto read = egress::policy_of(std::get<frame::Serve>(*message));
  if (!read) throw std::logic_error{read.error().text()};
  return *std::move(read);
}

constexpr std::string_view kHosts[] = {
    "a.example", "x.a.example",   "y.x.a.example", "b.example",       "c.example",
    "d.example", "93.184.216.34", "10.0.0.5",      "169.254.169.254", "host.cordon.internal"};
constexpr std::uint16_t kPorts[] = {22, 80, 443, 5432, 8443};

void expect_same(const Policy& here, const Policy& far) {
  for (const std::string_view host : kHosts) {
    EXPECT_EQ(here.decide_name(host).allowed(), far.decide_name(host).allowed()) << host;
    for (const std::uint16_t port : kPorts) {
      for (const std::string_view method : {"", "GET", "POST"}) {
        for (const std::string_view path : {"/", "/v1", "/v1/a", "/x//y"}) {
          const policy::NetQuery query{.host = host, .port = port, .method = method, .path = path};
          const auto one = here.decide(query);
          const auto two = far.decide(query);
          ASSERT_EQ(one.effect, two.effect) << host << port << method << path;
          ASSERT_EQ(one.place, two.place) << host << port << method << path;
        }
      }
      if (here.decide(policy::NetQuery{.host = host, .port = port}).allowed()) {
        EXPECT_EQ(here.passage(host, port), far.passage(host, port)) << host << port;
      }
    }
    for (const std::string_view grant : {"one", "two"}) {
      for (const std::string_view method : {"GET", "POST"}) {
        const policy::CredentialQuery query{
            .grant = grant, .host = host, .method = method, .path = "/v1"};
        EXPECT_EQ(here.decide(query).allowed(), far.decide(query).allowed()) << host << grant;
      }
    }
  }
}

TEST(NetworkPolicy, IsDecidedOverThereAsHere) {
  Dice dice{20'261'115};
  int compared = 0;
  for (int i = 0; i < 400; ++i) {
    const auto policy = drawn_policy(dice);
    if (!policy) continue;
    ++compared;
    expect_same(*policy, there(*policy));
    if (::testing::Test::HasFailure()) FAIL() << "policy " << i;
  }
  EXPECT_GT(compared, 300);
}

TEST(NetworkPolicy, IsNotBelievedWhenItIsBroken) {
  const auto good = [] {
    const auto policy =
        policy::check(document_of("[network]\negress_allowlist = [\"a.example\"]\n", "cordon.toml"),
                      policy::Origin::user, {});
    return plan::serve_of(*policy, "k7f3");
  };
  EXPECT_TRUE(egress::policy_of(good()));
  const std::function<void(frame::Serve&)> breaks[] = {
      [](frame::Serve& s) { s.documents.clear(); },
      [](frame::Serve& s) { s.documents[0].files.clear(); },
      [](frame::Serve& s) { s.documents[0].origin = 9; },
      [](frame::Serve& s) { s.documents[0].origin = 4; },  // a workspace file alone
      [](frame::Serve& s) { s.documents[0].mode = 7; },
      [](frame::Serve& s) { s.documents[0].allow[0].host = "*"; },
      [](frame::Serve& s) { s.documents[0].allow[0].host = "*.com"; },
      [](frame::Serve& s) { s.documents[0].allow[0].port = 0; },
      [](frame::Serve& s) { s.documents[0].allow[0].protocol = 3; },
      [](frame::Serve& s) { s.documents[0].allow[0].addresses = 2; },
      [](frame::Serve& s) { s.documents[0].allow[0].place.source = 1; },
      // A request may name nothing of the host.
      [](frame::Serve& s) {
        s.documents[0].origin = 3;
        s.documents[0].host_ports = {{5432, {}}};
      },
  };
  for (const auto& broken : breaks) {
    frame::Serve serve = good();
    broken(serve);
    EXPECT_FALSE(egress::policy_of(serve));
  }
}

}  // namespace
}  // namespace cordon
