// SPDX-License-Identifier: Apache-2.0
#include "egress/gate.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "egress/piece_scanner.h"
#include "egress/refusals.h"
#include "egress/tcp.h"
#include "egress/ward.h"
#include "http/upgrade.h"
#include "policy/checked.h"

namespace cordon::egress {
namespace {

std::string_view code_of(policy::Reason reason) {
  switch (reason) {
    case policy::Reason::method_not_listed:
    case policy::Reason::websocket_not_listed:
      return "method_refused";
    case policy::Reason::url_path_not_listed:
    case policy::Reason::unusual_path:
      return "path_not_allowed";
    default:
      return "host_not_allowed";
  }
}

// Servers differ over others: some take `get` for GET.
bool is_plain_method(std::string_view method) {
  return !method.empty() && method.size() <= 24 &&
         std::ranges::all_of(method, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

// As an agent and a person read it: what, why, where it is written, what to do.
std::string words_of(const frame::NetRefused& told) {
  std::string text =
      fmt::format("{} is not allowed: {} ({}). Do not retry.", told.tried, told.why, told.rule);
  if (!told.fix.empty()) text += fmt::format(" A person may allow it: {}", told.fix);
  return text;
}

}  // namespace

Gate::Gate(Ward& ward, LiveConnection& connection)
    : ward_{ward}, connection_{connection}, dialled_{ward.commons().executor} {}

void Gate::abort() {
  reset(dialled_);
  if (abort_) abort_();
}

HttpRefusal Gate::refuse(HttpRefusal refusal, frame::NetRefused told) {
  ward_.reports().refused(std::move(told));
  told_ = true;
  return refusal;
}

std::unexpected<HttpRefusal> Gate::ended() {
  told_ = true;  // by whoever ended it
  return std::unexpected{HttpRefusal{.code = "host_not_allowed", .text = "it is allowed no more"}};
}

std::optional<std::string> Gate::grant_for(const http::RequestHead& head) const {
  for (const auto& checked : ward_.policy().documents()) {
    for (const policy::Grant& grant : checked->document().credentials.grants.items) {
      const policy::CredentialQuery query{.grant = grant.name,
                                          .host = connection_.host,
                                          .method = head.method,
                                          .path = head.target.path};
      if (connection_.port == 443 && ward_.policy().decide(query).allowed()) return grant.name;
    }
  }
  return std::nullopt;
}

Judged<HttpPermission> Gate::judge(const http::RequestHead& head) {
  told_ = false;
  if (connection_.ended) return ended();
  if (!is_plain_method(head.method)) {
    return std::unexpected{
        HttpRefusal{.status = 400,
                    .code = "bad_request",
                    .text = "a method is 1 to 24 capital letters or hyphens; this one is not"}};
  }
  const policy::NetQuery query{.host = connection_.host,
                               .port = connection_.port,
                               .method = head.method,
                               .path = head.target.path,
                               .websocket = http::asks_upgrade(head)};
  const policy::Decision decision = ward_.policy().decide(query);
  if (!decision.allowed()) {
    frame::NetRefused told = refused_by_policy(ward_.policy(), query);
    HttpRefusal refusal{.code = std::string{code_of(decision.reason)}, .text = words_of(told)};
    return std::unexpected{refuse(std::move(refusal), std::move(told))};
  }
  // A rule without methods and paths allows every request, and a grant may be all that has them
  // judged: what follows an upgrade nobody judges, so that it takes a word of its own.
  if (query.websocket && !connection_.passage.websocket) {
    const std::string why = "no rule says websocket = true for this host";
    return std::unexpected{
        refuse({.code = "method_refused", .text = why + ". Do not retry."},
               refused_connection(kRequestRefused, connection_.host, connection_.port, why))};
  }
  if (const auto over = ward_.budget().request(std::chrono::steady_clock::now())) {
    return std::unexpected{refuse(
        {.status = 429, .code = "egress_budget_exceeded", .text = over->why},
        refused_budget(connection_.host, connection_.port, over->why, ward_.rule_of(over->kind)))};
  }
  const auto grant = grant_for(head);
  grant_ = grant.value_or("");
  connection_.request = LiveRequest{.method = head.method,
                                    .path = head.target.path,
                                    .websocket = query.websocket,
                                    .grant = grant_};
  return HttpPermission{.inject = grant.has_value(),
                        .scan = grant.has_value() || ward_.has_grants() || ward_.scans(),
                        .websocket = query.websocket};
}

asio::awaitable<Judged<asio::ip::tcp::socket>> Gate::dial() {
  const auto dialled = co_await ward_.dialler().dial(connection_, ward_.policy(), dialled_);
  if (connection_.ended) co_return ended();
  if (!dialled) {
    const bool denied = dialled.error().code() == Errc::denied;
    const std::string why = dialled.error().text();
    co_return std::unexpected{refuse({.status = denied ? 403 : 502,
                                      .code = denied ? "address_not_allowed" : "proxy_unavailable",
                                      .text = why},
                                     refused_connection(denied ? kAddressRefused : kOutside,
                                                        connection_.host, connection_.port, why))};
  }
  address_ = dialled->text();
  ward_.reports().used({.host = connection_.host, .port = connection_.port, .address = address_});
  co_return std::move(dialled_);
}

asio::awaitable<Judged<http::Fields>> Gate::fields(const http::RequestHead& head) {
  // Before it is asked: a revocation may be heard in the same turn as the answer.
  connection_.grants.insert(grant_);
  // Held: another may take its place while it is asked.
  const std::shared_ptr<BrokerLink> broker = ward_.broker();
  auto header = broker == nullptr
                    ? Result<InjectedHeader>{Error{Errc::unavailable, "there is no broker"}}
                    : co_await broker->ask({.sandbox = ward_.id(),
                                            .grant = grant_,
                                            .host = connection_.host,
                                            .port = connection_.port,
                                            .method = head.method,
                                            .path = head.target.path});
  if (connection_.ended) co_return ended();
  if (!header) {
    const std::string why = header.error().text();
    co_return std::unexpected{
        refuse({.status = header.error().code() == Errc::denied ? 403 : 503,
                .code = std::string{code_of_refusal(header.error())},
                .text = fmt::format("the credential {} is not given: {}", grant_, why)},
               refused_connection(kCredentialRefused, connection_.host, connection_.port, why))};
  }
  const Sentinel secret{.name = "the credential " + grant_, .value = header->secret()};
  secret_ = std::make_unique<SentinelSet>(std::span{&secret, 1});
  http::Fields fields;
  fields.push_back(
      {.name = header->name,
       .value = {reinterpret_cast<const char*>(header->value.data()), header->value.size()}});
  co_return fields;
}

EgressBudget::Allowance Gate::move(Direction direction, std::uint64_t wanted) {
  if (connection_.ended) {
    return {.spent = BudgetRefusal{BudgetKind::connections, "it is allowed no more"}};
  }
  return ward_.budget().move(direction, wanted, std::chrono::steady_clock::now());
}

std::vector<const SentinelSet*> Gate::sets(Direction direction) const {
  std::vector<const SentinelSet*> all;
  if (direction == Direction::out) all.push_back(&any_placeholder());
  if (secret_) all.push_back(secret_.get());
  return all;
}

SecretScan::Keys Gate::keys() const {
  return ward_.scans() ? SecretScan::Keys::find : SecretScan::Keys::ignore;
}

std::optional<HttpRefusal> Gate::scan_head(Direction direction, std::string_view head) {
  const auto looked_for = sets(direction);
  SecretScan scan{keys(), looked_for};
  const auto& found = scan.push(as_bytes(head));
  if (!found) return std::nullopt;
  return secret_refusal(*found, direction);
}

std::unique_ptr<HttpScanner> Gate::body_scanner(Direction direction) {
  const auto looked_for = sets(direction);
  if (looked_for.empty() && keys() == SecretScan::Keys::ignore) return nullptr;
  return std::make_unique<PieceScanner>(direction, keys(), looked_for);
}

void Gate::finished(const HttpUse& use) {
  if (use.refusal && !told_ && !connection_.ended) {
    const bool secret = use.refusal->code == "secret_violation";
    const bool budget = use.refusal->code == "egress_budget_exceeded";
    ward_.reports().refused(
        budget ? refused_budget(connection_.host, connection_.port, use.refusal->text,
                                ward_.rule_of(BudgetKind::bytes))
               : refused_connection(secret ? kSecretRefused : kRequestRefused, connection_.host,
                                    connection_.port, use.refusal->text));
  }
  // A refusal is told as such, once; whoever is inside could fill a disk with them.
  if (!use.refusal)
    ward_.reports().used({.host = connection_.host,
                          .port = connection_.port,
                          .address = address_,
                          .method = use.method.empty() ? "?" : use.method,
                          .path = use.path,
                          .status = static_cast<std::uint32_t>(use.status),
                          .ended = true,
                          .bytes_out = use.bytes_out,
                          .bytes_in = use.bytes_in});
  secret_.reset();
  connection_.request.reset();
  grant_.clear();
  told_ = false;
}

}  // namespace cordon::egress
