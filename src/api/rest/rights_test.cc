// SPDX-License-Identifier: Apache-2.0
// All routes times all kinds of bearers (C201, C202): gate and right together, as a request meets
// them. A route that is not in the table below fails until somebody has said what it needs.
#include "api/rest/rights.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "gate/gate.h"
#include "token/api_key.h"
#include "token/token.h"

namespace cordon::api {
namespace {

using token::Caveat;
using token::Operation;

// What a route is about, and so which caveats it must be held against.
enum class About : std::uint8_t { everybody, node, tenant, sandbox, file };

const std::map<std::string, About> kAbout = {
    {"GET /v1/health", About::everybody},
    {"GET /v1/node", About::node},
    {"GET /v1/node/census", About::node},
    {"PUT /v1/node/policy", About::node},
    {"DELETE /v1/node/policy", About::node},
    {"POST /v1/node/drain", About::node},
    {"POST /v1/node/resume", About::node},
    {"POST /v1/node/departures", About::node},
    {"POST /v1/node/departures/{id}/check", About::node},
    {"GET /v1/node/departures/{id}/tree", About::node},
    {"POST /v1/node/departures/{id}/end", About::node},
    {"DELETE /v1/node/departures/{id}", About::node},
    {"POST /v1/node/arrivals", About::node},
    {"PUT /v1/node/arrivals/{id}/tree", About::node},
    {"POST /v1/node/arrivals/{id}/check", About::node},
    {"POST /v1/node/arrivals/{id}/ready", About::node},
    {"POST /v1/node/arrivals/{id}/settle", About::node},
    {"DELETE /v1/node/arrivals/{id}", About::node},
    {"GET /metrics", About::node},
    {"POST /v1/run", About::tenant},
    {"POST /v1/tokens/revoke", About::tenant},
    {"POST /v1/keys", About::tenant},
    {"GET /v1/keys", About::tenant},
    {"DELETE /v1/keys/{key}", About::tenant},
    {"PUT /v1/secrets/{name}", About::tenant},
    {"GET /v1/secrets", About::tenant},
    {"DELETE /v1/secrets/{name}", About::tenant},
    {"POST /v1/sandboxes", About::tenant},
    {"GET /v1/sandboxes", About::tenant},
    {"GET /v1/sandboxes/{id}", About::sandbox},
    {"PATCH /v1/sandboxes/{id}", About::sandbox},
    {"DELETE /v1/sandboxes/{id}", About::sandbox},
    {"POST /v1/sandboxes/{id}/run", About::sandbox},
    {"POST /v1/sandboxes/{id}/processes", About::sandbox},
    {"GET /v1/sandboxes/{id}/processes", About::sandbox},
    {"GET /v1/sandboxes/{id}/processes/{process}", About::sandbox},
    {"GET /v1/sandboxes/{id}/processes/{process}/output", About::sandbox},
    {"POST /v1/sandboxes/{id}/processes/{process}/acknowledge", About::sandbox},
    {"GET /v1/sandboxes/{id}/processes/{process}/wait", About::sandbox},
    {"POST /v1/sandboxes/{id}/processes/{process}/input", About::sandbox},
    {"POST /v1/sandboxes/{id}/processes/{process}/signal", About::sandbox},
    {"GET /v1/sandboxes/{id}/files", About::file},
    {"PUT /v1/sandboxes/{id}/files", About::file},
    {"DELETE /v1/sandboxes/{id}/files", About::file},
    {"GET /v1/sandboxes/{id}/files/list", About::file},
    {"GET /v1/sandboxes/{id}/files/stat", About::file},
    {"POST /v1/sandboxes/{id}/files/directory", About::file},
    {"POST /v1/sandboxes/{id}/files/move", About::file},
    {"GET /v1/sandboxes/{id}/files/watch", About::file},
    {"GET /v1/sandboxes/{id}/tree", About::file},
    {"PUT /v1/sandboxes/{id}/tree", About::file},
    {"GET /v1/sandboxes/{id}/processes/{process}/attach", About::sandbox},
    {"GET /v1/sandboxes/{id}/events", About::sandbox},
    {"GET /v1/audit", About::tenant},
    {"GET /v1/events", About::tenant},
    {"GET /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
    {"HEAD /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
    {"POST /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
    {"PUT /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
    {"PATCH /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
    {"DELETE /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
    {"OPTIONS /v1/sandboxes/{id}/ports/{port}/{path...}", About::sandbox},
};

std::string name_of(const Route& route) {
  return std::string{route.method} + " " + std::string{route.pattern};
}

constexpr std::chrono::sys_seconds kNow{std::chrono::seconds{1'800'000'000}};
constexpr std::chrono::sys_seconds kBefore = kNow - std::chrono::hours{1};
constexpr std::uint32_t kOperator = 0;
constexpr std::uint32_t kSomebody = 1000;

token::AudienceKey key_of(const std::string& audience, std::byte fill = std::byte{7}) {
  Digest bytes{};
  bytes.fill(fill);
  return *token::RootKey{token::Secret{bytes}}.derive(audience);
}

std::string minted(const token::AudienceKey& key, bool is_operator, std::vector<Caveat> caveats) {
  return *token::mint(key, std::array<std::byte, token::kIdSize>{},
                      {.is_operator = is_operator, .caveats = std::move(caveats)});
}

enum class Outcome : std::uint8_t { served, denied, hidden, unauthenticated };

// A node with its key, a clock that stands, and one token that was taken back.
class Node {
 public:
  Node()
      : gate_{own_key(),
              {kOperator},
              [this](const token::RevocationId& id) { return revoked_.contains(id); },
              [this](std::string_view text) { return key(text); },
              clock_} {}

  // A key that stands for the token.
  std::string key_for(const std::string& text) {
    const std::string name = std::string{token::kApiKeyPrefix} + std::to_string(keys_.size());
    const std::array<token::AudienceKey, 1> own{key_of("node")};
    keys_.emplace(name, *token::verify(text, {own, kBefore, {}}));
    return name;
  }

  void revoke(const std::string& text) { revoked_.insert(token::read(text)->revocation); }

  Outcome ask(const Route& route, const std::optional<std::string>& bearer,
              std::uint32_t uid = kSomebody) const {
    http::Fields fields;
    if (bearer) fields.push_back({"Authorization", "Bearer " + *bearer});
    return ask_with(route, std::move(fields), uid);
  }
  Outcome ask_with(const Route& route, http::Fields fields, std::uint32_t uid = kSomebody) const {
    const http::RequestHead head{.method = std::string{route.method}, .fields = std::move(fields)};
    if (!route.operation) return Outcome::served;
    const auto asks = gate_.admit(head, {.local = os::PeerCredentials{.uid = uid}});
    if (!asks) {
      EXPECT_EQ(asks.error().text(), "no valid token: send Authorization: Bearer TOKEN");
      return Outcome::unauthenticated;
    }
    const std::vector<std::string> places{"aaaa", "1"};
    const Query query{{"path", "/a/b"}, {"to", "/a/c"}};
    // Whose things: the sandbox is acme's, and so is what is asked for without one.
    const Status right = authorise(asks->authority, {route, places, query, "acme"}, kNow);
    if (right) return Outcome::served;
    return right.error().code() == Errc::not_found ? Outcome::hidden : Outcome::denied;
  }

 private:
  static std::vector<token::AudienceKey> own_key() {
    std::vector<token::AudienceKey> keys;
    keys.push_back(key_of("node"));
    return keys;
  }

  std::optional<gate::Bearer> key(std::string_view text) const {
    const auto found = keys_.find(text);
    if (found == keys_.end()) return std::nullopt;
    return gate::Bearer{found->second, "id"};
  }

  ManualClock clock_{kNow};
  std::map<std::string, token::Authority, std::less<>> keys_;
  std::set<token::RevocationId> revoked_;
  gate::Gate gate_;
};

token::OperationIn only(Operation operation) {
  token::OperationIn in;
  in.operations.add(operation);
  return in;
}
token::OperationIn all_but(Operation operation) {
  token::OperationIn in;
  for (const token::OperationRow& row : token::all_operations()) {
    if (row.operation != operation) in.operations.add(row.operation);
  }
  return in;
}
token::SandboxIn sandbox(const std::string& id) { return {{*SandboxId::parse(id)}}; }

struct Shown {
  const char* name;
  std::optional<std::string> text;
  Outcome outcome;
};

// What each bearer gets at a route that needs `operation`. The last is the right one.
std::vector<Shown> bearers(Operation operation, About about, Node& node) {
  const token::AudienceKey key = key_of("node");
  const bool of_node = about == About::node;
  const token::ExpiresAt hour{kNow + std::chrono::hours{1}};
  const auto own = [&](const token::AudienceKey& with, std::vector<Caveat> more) {
    std::vector<Caveat> caveats{hour};
    if (!of_node) caveats.emplace_back(token::TenantIs{"acme"});
    caveats.insert(caveats.end(), more.begin(), more.end());
    return minted(with, of_node, std::move(caveats));
  };
  const std::string right = own(key, {only(operation)});
  std::string forged = right;
  forged[forged.size() - 10] = forged[forged.size() - 10] == 'A' ? 'B' : 'A';
  const std::string taken_back = own(key, {only(operation), token::BudgetOf{}});
  node.revoke(taken_back);
  const bool has_sandbox = about == About::sandbox || about == About::file;
  const Outcome other_tenant = has_sandbox ? Outcome::hidden : Outcome::denied;
  using enum Outcome;
  return {
      {"no token", std::nullopt, unauthenticated},
      {"an empty one", "", unauthenticated},
      {"garbage", "x", unauthenticated},
      {"only the beginning of one", "cdn1_", unauthenticated},
      {"a forged tag", forged, unauthenticated},
      {"truncated", right.substr(0, right.size() - 8), unauthenticated},
      {"something behind it", right + "A", unauthenticated},
      {"expired", own(key, {only(operation), token::ExpiresAt{kNow}}), unauthenticated},
      {"taken back", taken_back, unauthenticated},
      {"made of one that was taken back",
       *token::attenuate(taken_back, std::vector<Caveat>{only(operation)}), unauthenticated},
      {"of another audience", own(key_of("node-b"), {only(operation)}), unauthenticated},
      {"of another root", own(key_of("node", std::byte{8}), {only(operation)}), unauthenticated},
      {"of two tenants", own(key, {token::TenantIs{"one"}, token::TenantIs{"two"}}),
       unauthenticated},
      {"of another tenant", minted(key, false, {hour, token::TenantIs{"other"}}),
       of_node ? denied : other_tenant},
      {"of a tenant, where the node is meant", minted(key, false, {hour, token::TenantIs{"acme"}}),
       of_node ? denied : served},
      {"an operator's for a tenant", minted(key, true, {token::TenantIs{"acme"}}),
       of_node ? denied : served},
      {"of all other operations", own(key, {all_but(operation)}), denied},
      {"of no operation", own(key, {token::OperationIn{}}), denied},
      {"of another sandbox", own(key, {only(operation), sandbox("bbbb")}), denied},
      {"of this sandbox", own(key, {only(operation), sandbox("aaaa")}),
       has_sandbox ? served : denied},
      {"of another path", own(key, {only(operation), token::PathBelow{"/b"}}), denied},
      {"of one of two paths", own(key, {only(operation), token::PathBelow{"/a/b"}}), denied},
      {"of this path", own(key, {only(operation), token::PathBelow{"/a"}}),
       about == About::file ? served : denied},
      {"an operator's", minted(key, true, {}), served},
      {"a key of nobody", "cdnk_x", unauthenticated},
      {"the key of an expired one", node.key_for(own(key, {token::ExpiresAt{kNow}})),
       unauthenticated},
      {"the key of one that was taken back", node.key_for(taken_back), unauthenticated},
      {"the key of one of all other operations", node.key_for(own(key, {all_but(operation)})),
       denied},
      {"the key of the right one", node.key_for(right), served},
      {"the right one", right, served},
  };
}

TEST(Rights, EveryRouteIsInTheTable) {
  std::set<std::string> served;
  for (const Route& route : all_routes()) served.insert(name_of(route));
  std::set<std::string> known;
  for (const auto& [name, about] : kAbout) known.insert(name);
  EXPECT_EQ(served, known);
}

TEST(Rights, EveryRouteIsDeniedToAllButTheRightBearers) {
  for (const Route& route : all_routes()) {
    const About about = kAbout.at(name_of(route));
    ASSERT_EQ(route.operation.has_value(), about != About::everybody) << name_of(route);
    if (!route.operation) continue;
    Node node;
    for (const Shown& bearer : bearers(*route.operation, about, node)) {
      EXPECT_EQ(node.ask(route, bearer.text), bearer.outcome)
          << name_of(route) << " with a token: " << bearer.name;
    }
    // Whoever the kernel says is the node's own user needs none; one that is shown counts.
    EXPECT_EQ(node.ask(route, std::nullopt, kOperator), Outcome::served) << name_of(route);
    EXPECT_EQ(node.ask(route, "x", kOperator), Outcome::unauthenticated) << name_of(route);
  }
}

TEST(Rights, AKeyComesInOneOfTwoFieldsAndATokenInOne) {
  Node node;
  const Route& route = *match("GET", "/v1/sandboxes").route;
  const std::string text =
      minted(key_of("node"), false,
             {token::TenantIs{"acme"}, token::ExpiresAt{kNow + std::chrono::hours{1}}});
  const std::string key = node.key_for(text);
  using enum Outcome;
  EXPECT_EQ(node.ask_with(route, {{"X-API-Key", key}}), served);
  EXPECT_EQ(node.ask_with(route, {{"x-api-key", key}}), served);
  EXPECT_EQ(node.ask_with(route, {{"X-API-Key", text}}), unauthenticated) << "a token is no key";
  EXPECT_EQ(node.ask_with(route, {{"X-API-Key", "Bearer " + key}}), unauthenticated);
  EXPECT_EQ(node.ask_with(route, {{"X-API-Key", key}, {"X-API-Key", key}}), unauthenticated);
  EXPECT_EQ(node.ask_with(route, {{"X-API-Key", key}, {"Authorization", "Bearer " + text}}),
            unauthenticated);
  EXPECT_EQ(node.ask_with(route, {{"X-API-Key", ""}}, kOperator), unauthenticated)
      << "what is shown counts";
}

// What the table says of a route is what its row says of itself.
TEST(Rights, RowsAskForWhatTheirRoutesAreAbout) {
  for (const Route& route : all_routes()) {
    if (!route.operation) continue;
    const token::OperationRow& row = token::row_of(*route.operation);
    const About about = kAbout.at(name_of(route));
    EXPECT_EQ(row.reach == token::Reach::node, about == About::node) << name_of(route);
    EXPECT_EQ(row.has_path, about == About::file) << name_of(route);
    // Whoever has a sandbox come or go acts for the node.
    const bool is_passage = route.pattern.starts_with("/v1/node/departures/") ||
                            route.pattern.starts_with("/v1/node/arrivals/");
    EXPECT_EQ(route.pattern.find("{id}") != std::string_view::npos,
              about == About::sandbox || about == About::file || is_passage)
        << name_of(route);
  }
}

}  // namespace
}  // namespace cordon::api
