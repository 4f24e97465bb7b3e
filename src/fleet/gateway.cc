// SPDX-License-Identifier: Apache-2.0
#include "fleet/gateway.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "async/unless.h"
#include "async/waiting.h"
#include "base/bytes.h"
#include "base/log.h"
#include "gate/origin.h"
#include "hash/sha256.h"
#include "http/characters.h"
#include "http/connection.h"
#include "token/api_key.h"
#include "token/caveat.h"
#include "token/key.h"
#include "token/layout.h"
#include "wire/json_writer.h"
#include "wire/unit.h"

namespace cordon::fleet {
namespace {

using Kind = Way::Kind;

constexpr std::chrono::seconds kLongestLook{60};
constexpr int kGone = 410;
constexpr int kAway = 503;
constexpr int kMostFollowed = 3;  // of a sandbox that was moved again and again

wire::ProblemAnswer unauthenticated(const Error& error) {
  return {.status = 401,
          .code = "CORDON-API-UNAUTHENTICATED",
          .detail = error.text(),
          .remedy = "mint one with `cordon token mint`, or ask the operator of this fleet"};
}

Result<std::string> tenant_of(const http::RequestHead& head, const token::Authority& authority) {
  if (http::count(head.fields, kTenantField) == 0) {
    return authority.tenant().value_or(std::string{});
  }
  const auto name = http::only(head.fields, kTenantField);
  if (!name || !token::is_name(*name, token::kLongestTenant)) {
    return Error{Errc::invalid, fmt::format("{}: one name of a-z, 0-9 and hyphens", kTenantField)};
  }
  if (authority.tenant().value_or(std::string{*name}) != *name) {
    return Error{Errc::denied, fmt::format("{}: the token is of another tenant", kTenantField)};
  }
  return std::string{*name};
}

// On ways that only the node can judge: what is a credential of ours is nobody's inside a sandbox.
void strip_our_credentials(http::Fields& fields) {
  std::erase_if(fields, [](const http::Field& field) {
    std::string_view value = field.value;
    if (http::same_name(field.name, "authorization")) {
      constexpr std::string_view kBearer = "bearer ";
      if (value.size() < kBearer.size() ||
          !http::same_name(value.substr(0, kBearer.size()), kBearer)) {
        return false;
      }
      value.remove_prefix(kBearer.size());
    } else if (!http::same_name(field.name, "x-api-key")) {
      return false;
    }
    return value.starts_with(token::kTokenPrefix) || value.starts_with(token::kApiKeyPrefix) ||
           value.starts_with(token::kE2bKeyPrefix);
  });
}

// Who hears the same answer whichever time it is asked.
bool may_repeat(const http::RequestHead& head) {
  return (head.method == "GET" || head.method == "HEAD") && !head.announced.chunked &&
         head.announced.length.value_or(0) == 0;
}

}  // namespace

namespace {

wire::ProblemAnswer no_such_sandbox() {
  return {.status = 502,
          .code = "CORDON-API-NOT-FOUND",
          .detail = "there is no such sandbox",
          .remedy = "make one first"};
}

}  // namespace

wire::ProblemAnswer node_away(NodeId node, std::string_view why) {
  return {.status = 503,
          .code = "CORDON-FLEET-NODE-AWAY",
          .detail = fmt::format("node {} does not answer: {}", to_string(node), why),
          .remedy = "what runs there goes on; send the request again"};
}

wire::ProblemAnswer answer_lost(NodeId node, std::string_view why) {
  return {.status = 502,
          .code = "CORDON-FLEET-ANSWER-LOST",
          .detail = fmt::format("node {} got the request and did not answer it: {}; whether it was "
                                "done is not known",
                                to_string(node), why),
          .remedy = "look at what there is before you send it again"};
}

wire::ProblemAnswer node_dead(NodeId node) {
  return {.status = 410,
          .code = "CORDON-FLEET-NODE-DEAD",
          .detail = fmt::format("node {} is dead, and the sandboxes that it had are lost",
                                to_string(node)),
          .remedy = "make another sandbox"};
}

Result<gate::Query> query_of(const Asked& asked) {
  return gate::read_query(asked.exchange.head().target.query.value_or(std::string{}));
}

async::Task<void> answer_json(Asked& asked, int status, std::string body) {
  http::Fields fields{{"Content-Type", "application/json"}};
  co_return co_await asked.exchange.answer(status, std::move(fields), std::move(body));
}

async::Task<void> answer_problem(Asked& asked, const wire::ProblemAnswer& problem) {
  http::Fields fields{{"Content-Type", "application/problem+json"}};
  if (problem.status == 503 || problem.status == 429) fields.push_back({"Retry-After", "1"});
  if (!asked.way.is_e2b) {
    co_return co_await asked.exchange.answer(problem.status, std::move(fields),
                                             wire::to_json(problem));
  }
  fields.front().value = "application/json";
  wire::JsonWriter json;
  json.begin_object();
  json.number("code", std::int64_t{problem.status});
  json.text("message", problem.detail + "; " + problem.remedy);
  json.end_object();
  co_return co_await asked.exchange.answer(problem.status, std::move(fields), json.take());
}

async::Task<void> answer_error(Asked& asked, const Error& error) {
  co_return co_await answer_problem(asked, wire::problem_of(error));
}

async::Task<void> Gateway::handle(http::Exchange& exchange) {
  ++counts_.requests;
  Asked asked{.exchange = exchange, .way = way_of(exchange.head()), .tenant = {}};
  const auto served = co_await serve(asked);
  if (served) co_return Status{};
  log(LogLevel::info, "gateway", "a request was refused", {{"why", served.error().text()}});
  if (exchange.is_answered() || exchange.has_faulty_body()) co_return served.error();
  co_return co_await answer_error(asked, served.error());
}

async::Task<void> Gateway::serve(Asked& asked) {
  const http::RequestHead& head = asked.exchange.head();
  if (asked.way.kind == Kind::own && head.target.path == "/v1/health") {
    co_return co_await health(asked);
  }
  if (asked.way.is_open) co_return co_await serve_counted(asked);
  auto bearer = parts_.gate.admit(head, asked.exchange.peer());
  if (!bearer) co_return co_await answer_problem(asked, unauthenticated(bearer.error()));
  asked.bearer = *std::move(bearer);
  CO_TRY(asked.tenant, tenant_of(head, asked.bearer.authority));
  CO_TRY_DO(gate::check_origin(head, parts_.origins));
  const token::Authority& authority = asked.bearer.authority;
  // What we answer ourselves is over at once, and may be the end of this very right.
  const bool is_brief = asked.way.kind == Kind::own;
  if (is_brief || (authority.revocations().empty() && !authority.expires())) {
    co_return co_await serve_counted(asked);
  }
  co_return co_await serve_while_valid(asked);
}

bool Gateway::is_invalid(const Asked& asked) const {
  const token::Authority& authority = asked.bearer.authority;
  return parts_.revoked.has_any(authority.revocations()) ||
         authority.is_expired(std::chrono::floor<std::chrono::seconds>(parts_.clock.wall()));
}

// A second is the measure of expiry; and the clock of the wall may be set meanwhile.
asio::awaitable<void> Gateway::until_invalid(const Asked& asked) {
  using asio::experimental::awaitable_operators::operator||;
  const auto expires = [](const Gateway& self, const Asked& of) -> asio::awaitable<void> {
    asio::steady_timer look{co_await asio::this_coro::executor};
    while (!self.is_invalid(of)) {
      using std::chrono::milliseconds;
      const auto end = of.bearer.authority.expires();
      const auto left = end ? std::chrono::ceil<milliseconds>(*end - self.parts_.clock.wall())
                            : milliseconds{kLongestLook};
      look.expires_after(std::clamp(left, milliseconds{1}, milliseconds{kLongestLook}));
      co_await look.async_wait(async::kQuiet);
    }
  };
  co_await (parts_.revoked.until_any(asked.bearer.authority.revocations()) ||
            expires(*this, asked));
}

async::Task<void> Gateway::serve_while_valid(Asked& asked) {
  auto served = co_await async::unless(
      until_invalid(asked), [this, &asked] { return is_invalid(asked); }, serve_counted(asked),
      Error{Errc::denied, "the token was revoked, or has expired"});
  // A stream that a right ends with is cut by no failure of ours.
  if (!served && is_invalid(asked)) asked.exchange.break_off();
  co_return served;
}

// Of one tenant, and of all those who ask the inside of one sandbox without saying who they are.
async::Task<void> Gateway::serve_counted(Asked& asked) {
  constexpr std::size_t kMostOfATenant = 1024;
  constexpr std::size_t kMostOfASandbox = 256;
  const bool is_open = asked.way.is_open;
  const auto counted =
      in_flight_.begin((is_open ? "sandbox " + asked.way.sandbox : "tenant " + asked.tenant),
                       is_open ? kMostOfASandbox : kMostOfATenant);
  if (!counted) {
    co_return Error{Errc::exhausted,
                    "as many requests at once as one may have here; end a stream, or wait"};
  }
  co_return co_await serve_by_way(asked);
}

async::Task<void> Gateway::serve_by_way(Asked& asked) {
  switch (asked.way.kind) {
    case Kind::own:
      return own(asked);
    case Kind::sandbox:
      return to_sandbox(asked);
    case Kind::create:
      return create(asked);
    case Kind::sandboxes:
      return asked.way.is_e2b ? list_e2b(asked) : list(asked);
    case Kind::events:
      return stream_events(asked);
    case Kind::all:
      return to_all(asked);
    case Kind::one:
      return to_named(asked);
    case Kind::home:
      return to_home(asked);
    case Kind::nowhere:
      return answer_problem(
          asked, {.status = 501,
                  .code = "CORDON-FLEET-NO-NODE",
                  .detail = "this address does not say which sandbox it is about, and a fleet has "
                            "many nodes",
                  .remedy = "use the address whose host begins with the port and the sandbox"});
    case Kind::anywhere:
      return anywhere(asked);
  }
  std::unreachable();
}

Result<http::Fields> Gateway::rights_for(const Asked& asked, NodeId node) {
  TRY(const std::string token, parts_.reissue.for_node(asked.bearer, node, parts_.clock.wall()));
  http::Fields fields{{"Authorization", "Bearer " + token}};
  const auto& chain = asked.bearer.authority.revocations();
  if (!chain.empty()) {
    std::string ids;
    for (const token::RevocationId& id : chain) {
      if (!ids.empty()) ids += ' ';
      ids += to_hex(id);
    }
    fields.push_back({std::string{gate::kChainField}, std::move(ids)});
  }
  if (!asked.tenant.empty()) fields.push_back({std::string{kTenantField}, asked.tenant});
  return fields;
}

Result<http::RequestHead> Gateway::head_for(const Asked& asked, NodeId node) {
  http::RequestHead inner = asked.exchange.head();
  inner.version = http::Version::http11;
  if (asked.target) inner.target = *asked.target;
  http::strip_hop_by_hop(inner.fields);
  for (const std::string_view ours :
       {gate::kChainField, wire::kUnitField, std::string_view{"expect"}}) {
    http::remove_all_spellings(inner.fields, ours);
  }
  // A field that `Connection` names is gone: who was let pass by it must not be somebody else
  // there.
  if (Way there = way_of(inner); there.kind != asked.way.kind ||
                                 there.sandbox != asked.way.sandbox ||
                                 there.is_open != asked.way.is_open) {
    return Error{Errc::invalid, "`Connection` names a field that says where this request goes"};
  }
  if (asked.way.is_open) {
    strip_our_credentials(inner.fields);
    return inner;
  }
  for (const std::string_view shown :
       {std::string_view{"authorization"}, std::string_view{"x-api-key"}, kTenantField}) {
    http::remove_all_spellings(inner.fields, shown);
  }
  TRY(http::Fields rights, rights_for(asked, node));
  std::ranges::move(rights, std::back_inserter(inner.fields));
  return inner;
}

http::Forward::Rules Gateway::rules_for(NodeId node) {
  return {.whom = "node " + to_string(node),
          .after = http::After::keep,
          .answer = http::kWritten,
          .outer_fields =
              [this, node](http::Fields fields) {
                http::strip_hop_by_hop(fields);
                http::remove_all_spellings(fields, "date");
                parts_.nodes.heard(node, fields);
                return fields;
              },
          // How long a request may take is the node's to say; one that is dead is found out.
          .times = {.head = http::kUnlimited, .idle = http::kUnlimited}};
}

async::Task<Gateway::Withheld> Gateway::pass_on(Asked& asked, NodeId node, bool is_of_sandbox) {
  const bool repeats = may_repeat(asked.exchange.head());
  for (bool is_last = !repeats;; is_last = true) {
    auto connection = co_await parts_.nodes.connect(node);
    if (!connection) {
      CO_TRY_DO(co_await answer_problem(asked, node_away(node, connection.error().text())));
      co_return Withheld{};
    }
    CO_TRY(http::RequestHead inner, head_for(asked, node));
    http::Forward::Rules rules = rules_for(node);
    if (is_of_sandbox) {
      // It comes or is gone: a node says so with no other answer.
      rules.withholds = [](const http::ResponseHead& said) {
        return (said.status == kGone || said.status == kAway) &&
               http::count(said.fields, wire::kMovedField) != 0;
      };
    }
    http::Forward forward{executor_, asked.exchange, *std::move(connection), std::move(rules)};
    const Status passed = co_await forward.run(std::move(inner));
    parts_.nodes.give_back(node, forward.take_back());
    if (passed) co_return forward.withheld();
    // A sandbox or a node that breaks off is no failure of ours.
    asked.exchange.break_off();
    if (asked.exchange.is_answered() || asked.exchange.has_faulty_body()) co_return passed.error();
    ++counts_.lost;
    if (!is_last && !forward.was_answered()) continue;
    const std::string& why = passed.error().text();
    wire::ProblemAnswer problem = repeats ? node_away(node, why) : answer_lost(node, why);
    if (parts_.nodes.standing(node) == Standing::dead) problem = node_dead(node);
    CO_TRY_DO(co_await answer_problem(asked, problem));
    co_return Withheld{};
  }
}

async::Task<void> Gateway::pass_to(Asked& asked, NodeId node) {
  CO_TRY_DO(co_await pass_on(asked, node, false));
  co_return Status{};
}

std::optional<NodeId> Gateway::node_of(const SandboxId& id) const {
  const auto home = parts_.reissue.node_of(id);
  // Of a name that nobody has made it does not matter what is said.
  return home ? parts_.moved.where(id.text()).value_or(*home) : home;
}

std::optional<NodeId> Gateway::follow(const Asked& asked, const http::ResponseHead& said) {
  const auto where = http::only(said.fields, wire::kMovedField);
  const auto node = where ? node_named(*where) : std::nullopt;
  if (node) {
    parts_.moved.heard(asked.way.sandbox, *node);
  } else {
    // It is about to be found there: somebody has to say so.
    parts_.mover.finish_later(asked.way.sandbox);
  }
  return node;
}

async::Task<void> Gateway::to_sandbox(Asked& asked) {
  const auto id = SandboxId::parse(asked.way.sandbox);
  auto node = id ? node_of(*id) : std::nullopt;
  // Any node says of a name that nobody has made what is to be said; but nobody in particular has
  // no request of his passed on.
  if (!node && asked.way.is_open) co_return co_await answer_problem(asked, no_such_sandbox());
  if (!node) co_return co_await anywhere(asked);
  for (int hop = 0; node && hop < kMostFollowed; ++hop) {
    const auto standing = parts_.nodes.standing(*node);
    if (!standing) {
      co_return co_await answer_problem(asked, node_away(*node, "it is not known here"));
    }
    if (*standing == Standing::dead) co_return co_await answer_problem(asked, node_dead(*node));
    CO_TRY(const Withheld withheld, co_await pass_on(asked, *node, true));
    if (!withheld) {
      if (asked.exchange.head().method == "DELETE") {
        parts_.purses.forget_refusals(owner_of(asked));
      }
      co_return Status{};
    }
    node = follow(asked, withheld->head);
    if (!may_repeat(asked.exchange.head())) break;
  }
  co_return co_await answer_problem(asked, {.status = 503,
                                            .code = "CORDON-FLEET-MOVING",
                                            .detail = "the sandbox is being moved to another node",
                                            .remedy = "send it again in a moment"});
}

std::vector<NodeId> Gateway::living() const {
  std::vector<NodeId> nodes = parts_.nodes.roster().all();
  std::erase_if(nodes, [this](NodeId node) {
    return parts_.nodes.standing(node).value_or(Standing::dead) == Standing::dead;
  });
  return nodes;
}

std::vector<NodeId> Gateway::ranked(std::string_view what) const {
  // Those that other gateways may not know yet come last: they are asked only where all before them
  // have refused, which nobody forgets as long as they are new.
  std::vector<std::tuple<bool, Digest, NodeId>> drawn;
  for (const NodeId node : living()) {
    drawn.emplace_back(!parts_.nodes.is_settled(node),
                       sha256({as_bytes(what), as_bytes(to_string(node))}), node);
  }
  std::ranges::sort(drawn);
  std::vector<NodeId> nodes;
  nodes.reserve(drawn.size());
  for (const auto& [is_new, digest, node] : drawn) nodes.push_back(node);
  return nodes;
}

async::Task<void> Gateway::anywhere(Asked& asked) {
  const auto node = parts_.nodes.roster().choose("");
  if (node) co_return co_await pass_to(asked, *node);
  const std::vector<NodeId> others = living();
  if (!others.empty()) co_return co_await pass_to(asked, others.front());
  co_return Error{Errc::unavailable, "no node of the fleet answers"};
}

async::Task<void> Gateway::to_home(Asked& asked) {
  const std::vector<NodeId> homes = ranked("home " + asked.tenant);
  if (homes.empty()) co_return Error{Errc::unavailable, "no node of the fleet answers"};
  co_return co_await pass_to(asked, homes.front());
}

// ?node=7.42 and what the node itself is asked.
async::Task<void> Gateway::to_named(Asked& asked) {
  const auto now = std::chrono::floor<std::chrono::seconds>(parts_.clock.wall());
  const token::Answer may = asked.bearer.authority.may(
      {.operation = token::Operation::audit_read, .tenant = asked.tenant}, now);
  if (!may) co_return Error{Errc::denied, may.words};
  constexpr std::string_view kNode = "node=";
  std::optional<NodeId> named;
  std::string rest;
  http::Target target = asked.exchange.head().target;
  const std::string query = target.query.value_or(std::string{});
  for (std::string_view left = query; !left.empty();) {
    const std::string_view part = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    if (part.starts_with(kNode) && !named) {
      named = node_named(part.substr(kNode.size()));
      continue;
    }
    if (!rest.empty()) rest += '&';
    rest += part;
  }
  if (!named || parts_.nodes.roster().summary(*named) == nullptr) {
    co_return Error{Errc::invalid,
                    "each node of a fleet has a log of its own: name one with `node=CELL.NODE`; "
                    "/v1/fleet/nodes lists them"};
  }
  target.query.reset();
  if (!rest.empty()) target.query = std::move(rest);
  asked.target = std::move(target);
  co_return co_await pass_to(asked, *named);
}

}  // namespace cordon::fleet
