// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/streamable_http.h"

#include <csignal>
#include <filesystem>
#include <ostream>

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "base/base64.h"
#include "cli/mcp/http_sessions.h"
#include "http/server.h"
#include "mcp/server/era.h"

namespace cordon::cli {
namespace {

constexpr std::size_t kLargestBody = std::size_t{4} << 20U;
constexpr std::chrono::seconds kLastRequests{2};
constexpr const char* kSessionField = "Mcp-Session-Id";

struct House {
  Server& server;
  Digest token;
  Sessions sessions{};
};

http::Fields json_fields() { return {{"Content-Type", "application/json"}}; }

async::Task<void> refuse(http::Exchange& exchange, int status, std::string why) {
  http::Fields fields = json_fields();
  if (status == 401) fields.push_back({"WWW-Authenticate", "Bearer"});
  if (status == 405) fields.push_back({"Allow", "POST, DELETE"});
  co_return co_await exchange.answer(
      status, std::move(fields),
      mcp::server::problem_text({}, {mcp::server::kInvalidRequest, std::move(why)}));
}

std::optional<std::string> field(const http::RequestHead& head, std::string_view name) {
  const auto value = http::only(head.fields, name);
  return value ? std::optional{std::string{*value}} : std::nullopt;
}

// A header cannot hold every name: some come as =?base64?…?=.
std::optional<std::string> decoded(std::optional<std::string> value) {
  constexpr std::string_view kBefore = "=?base64?";
  constexpr std::string_view kBehind = "?=";
  if (!value || !value->starts_with(kBefore) || !value->ends_with(kBehind) ||
      value->size() < kBefore.size() + kBehind.size()) {
    return value;
  }
  const std::string inner =
      value->substr(kBefore.size(), value->size() - kBefore.size() - kBehind.size());
  return from_base64(inner);
}

// Of the modern era headers repeat what the body says; whoever routes by them must not be lied to.
std::optional<mcp::server::Problem> mismatch(const http::RequestHead& head,
                                             const mcp::server::Request& request) {
  const auto differs = [&](std::string_view name, const std::optional<std::string>& said,
                           std::string_view is) -> std::optional<mcp::server::Problem> {
    if (said && *said == is) return std::nullopt;
    return mcp::server::Problem{
        mcp::server::kHeaderMismatch,
        fmt::format("the header {} is missing, or not as the body says: {}", name, is)};
  };
  if (auto wrong = differs("MCP-Protocol-Version", field(head, "MCP-Protocol-Version"),
                           mcp::server::kModernVersion)) {
    return wrong;
  }
  if (auto wrong = differs("Mcp-Method", field(head, "Mcp-Method"), request.method)) return wrong;
  if (request.method != "tools/call") return std::nullopt;
  const json::string* const name = mcp::server::text_at(request.params, "name");
  if (name == nullptr) return std::nullopt;
  return differs("Mcp-Name", decoded(field(head, "Mcp-Name")), *name);
}

// The answer as it comes: JSON alone, or a stream of events where something is said before it.
async::Task<void> carry(http::Exchange& exchange, HttpOutlet& outlet, http::Fields fields) {
  co_await outlet.wait();
  if (auto said = outlet.take_said()) {
    fields.push_back({"Content-Type", "text/event-stream"});
    fields.push_back({"Cache-Control", "no-cache"});
    CO_TRY_DO(co_await exchange.begin(200, std::move(fields)));
    for (;;) {
      if (said) {
        const std::string event = fmt::format("event: message\ndata: {}\n\n", *said);
        CO_TRY_DO(co_await exchange.write(event));
      } else if (outlet.last()) {
        break;
      }
      if (!outlet.last()) co_await outlet.wait();
      said = outlet.take_said();
    }
    const std::string last = outlet.last().value_or(std::string{});
    if (!last.empty()) {
      const std::string event = fmt::format("event: message\ndata: {}\n\n", last);
      CO_TRY_DO(co_await exchange.write(event));
    }
    co_return co_await exchange.finish();
  }
  const std::string last = outlet.last().value_or(std::string{});
  if (last.empty()) co_return co_await exchange.answer(202, std::move(fields), {});
  fields.push_back({"Content-Type", "application/json"});
  co_return co_await exchange.answer(200, std::move(fields), last);
}

async::Task<void> serve_request(House& house, http::Exchange& exchange,
                                mcp::server::Request request) {
  const auto said = mcp::server::sender_of(request.params);
  std::optional<mcp::server::Problem> problem;
  if (const auto* const wrong = std::get_if<mcp::server::Problem>(&said)) problem = *wrong;
  const auto* const sender = std::get_if<mcp::server::Sender>(&said);
  const bool is_modern = sender != nullptr && sender->era == mcp::server::Era::modern;
  if (is_modern) problem = mismatch(exchange.head(), request);
  const auto version = field(exchange.head(), "MCP-Protocol-Version");
  if (!problem && !is_modern && version && !mcp::server::is_legacy_version(*version)) {
    problem = mcp::server::Problem{mcp::server::kHeaderMismatch,
                                   "MCP-Protocol-Version names a version that the body does not"};
  }
  if (problem) {
    co_return co_await exchange.answer(400, json_fields(),
                                       mcp::server::problem_text(request.id, *problem));
  }
  http::Fields fields;
  std::shared_ptr<Conversation> conversation;
  if (is_modern) {
    conversation = std::make_shared<Conversation>();
  } else if (request.method == "initialize") {
    conversation = std::make_shared<Conversation>();
    CO_TRY(const std::string id, house.sessions.add(conversation));
    fields.push_back({kSessionField, id});
  } else {
    const auto id = field(exchange.head(), kSessionField);
    if (!id) co_return co_await refuse(exchange, 400, "Mcp-Session-Id is missing");
    conversation = house.sessions.find(*id);
    if (!conversation) co_return co_await refuse(exchange, 404, "there is no such session");
  }
  const auto outlet = std::make_shared<HttpOutlet>();
  const Abandoning abandoning{conversation, *outlet, request.id};
  house.server.take(conversation, std::move(request), outlet);
  co_return co_await carry(exchange, *outlet, std::move(fields));
}

// Notifications, and answers to questions of ours.
async::Task<void> serve_other(House& house, http::Exchange& exchange,
                              mcp::server::Message message) {
  if (const auto id = field(exchange.head(), kSessionField)) {
    const auto conversation = house.sessions.find(*id);
    if (!conversation) co_return co_await refuse(exchange, 404, "there is no such session");
    house.server.take(conversation, std::move(message), std::make_shared<HttpOutlet>());
  }
  co_return co_await exchange.answer(202, {}, {});
}

async::Task<void> serve_post(House& house, http::Exchange& exchange) {
  const std::string type = field(exchange.head(), "Content-Type").value_or(std::string{});
  if (type.substr(0, type.find(';')) != "application/json") {
    co_return co_await refuse(exchange, 415, "a message is application/json");
  }
  CO_TRY(const std::string body, co_await exchange.read_body(kLargestBody));
  mcp::server::Message message = mcp::server::read_message(body);
  if (const auto* const fault = std::get_if<mcp::server::Fault>(&message)) {
    co_return co_await exchange.answer(400, json_fields(),
                                       mcp::server::problem_text(fault->id, fault->problem));
  }
  if (auto* const request = std::get_if<mcp::server::Request>(&message)) {
    co_return co_await serve_request(house, exchange, std::move(*request));
  }
  co_return co_await serve_other(house, exchange, std::move(message));
}

async::Task<void> serve_exchange(House& house, http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  switch (refusal_of(head, house.token)) {
    case 403:
      co_return co_await refuse(exchange, 403, "Host and Origin are those of this machine only");
    case 401:
      co_return co_await refuse(exchange, 401, "the token is missing, or not that of this server");
    default:
      break;
  }
  if (head.target.path != "/mcp") co_return co_await refuse(exchange, 404, "the path is /mcp");
  if (head.method == "POST") co_return co_await serve_post(house, exchange);
  if (head.method != "DELETE") {
    co_return co_await refuse(exchange, 405, "POST a message, or DELETE a session");
  }
  const auto id = field(head, kSessionField);
  if (!id || !house.sessions.remove(*id)) {
    co_return co_await refuse(exchange, 404, "there is no such session");
  }
  co_return co_await exchange.answer(204, {}, {});
}

asio::awaitable<bool> run_until_signal(async::Scope& scope, http::Server*& server) {
  asio::signal_set signals{co_await asio::this_coro::executor};
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signals.add(number);
  scope.spawn(server->run());
  static_cast<void>(co_await signals.async_wait(async::kQuiet));
  static_cast<void>(co_await server->drain(kLastRequests));
  scope.cancel();
  co_return true;
}

}  // namespace

asio::awaitable<void> serve_http(Server& server, HttpDoor door, const Context& context) {
  House house{.server = server, .token = door.token};
  http::ServerSetup setup{
      .listeners = {}, .tls = {}, .handler = [&house](http::Exchange& exchange) {
        return serve_exchange(house, exchange);
      }};
  setup.listeners.push_back({.socket = std::move(door.socket)});
  auto made = http::Server::create(co_await asio::this_coro::executor, std::move(setup));
  if (made) {
    co_await async::in_scope(run_until_signal, made->get());
    house.sessions.cancel_all();
  } else {
    context.err << "cordon: " << made.error().text() << '\n';
  }
  std::error_code ignored;
  if (!door.own_path.empty()) std::filesystem::remove(door.own_path, ignored);
}

}  // namespace cordon::cli
