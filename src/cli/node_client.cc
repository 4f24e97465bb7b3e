// SPDX-License-Identifier: Apache-2.0
#include "cli/node_client.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "async/block_on.h"
#include "async/deadline.h"
#include "async/scope.h"
#include "base/id.h"
#include "cli/token_verbs.h"
#include "http/client.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

constexpr std::size_t kLargestAnswer = std::size_t{64} << 20U;
constexpr std::size_t kLongestLine = std::size_t{2} << 20U;  // 64 KiB of a program, at their worst

// Of one request, for as long as it takes; a wait of an hour is a request too.
constexpr http::ClientTimes kTimes{.head = std::chrono::hours{2}};

// For a node that is there.
constexpr std::chrono::milliseconds kSoon{500};
constexpr std::chrono::seconds kBetweenLooks{1};
constexpr int kMostMissed = 3;

http::Authority named() { return {.host = "localhost", .port = {}}; }

Result<std::string> token_of(const NodeOptions& options, Context& context) {
  if (options.token_file.empty()) {
    const auto held = context.environment("CORDON_TOKEN");
    if (!held || held->empty()) return std::string{};
  }
  TRY(std::string token, read_token({.token_file = options.token_file}, context));
  // Not repeated: it may be nearly one.
  if (token.empty() || !std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return Error{Errc::invalid,
                 fmt::format("{}: this is no token; cordon token mint makes one",
                             options.token_file.empty() ? "CORDON_TOKEN" : options.token_file)};
  }
  return token;
}

// A connection and its watch, which a scope runs until this dies.
class Connection {
 public:
  Connection(async::Scope& scope, const asio::any_io_executor& executor, os::Fd socket)
      : client_{std::make_shared<http::Client>(executor, std::move(socket), named(), kTimes)} {
    scope.spawn(watch(client_));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { client_->stop(); }
  http::Client& operator*() const noexcept { return *client_; }

 private:
  // Its two owners: this, and whoever asks.
  static asio::awaitable<void> watch(std::shared_ptr<http::Client> client) {
    co_await client->watch();
  }
  std::shared_ptr<http::Client> client_;
};

struct AskJob {
  const Node* node;
  NodeRequest request;
  Sent* sent = nullptr;
  LineTaker taker{};
  NodeAnswer* refusal = nullptr;
};

async::Task<http::ResponseHead> send(http::Client& client, AskJob& job) {
  http::Fields fields = job.node->fields;
  std::ranges::move(job.request.fields, std::back_inserter(fields));
  if (job.sent != nullptr) *job.sent = Sent::perhaps;
  CO_TRY_DO(co_await client.send(job.request.method, job.request.path, std::move(fields),
                                 std::move(job.request.body)));
  co_return co_await client.head();
}

std::string_view code_of(const NodeAnswer& answer) {
  if (answer.is_good() || !answer.json.is_object()) return {};
  const auto& object = answer.json.get_object();
  const auto* const code = object.if_contains("code");
  const auto* const detail = object.if_contains("detail");
  const bool is_problem =
      code != nullptr && code->is_string() && detail != nullptr && detail->is_string();
  return is_problem ? std::string_view{code->get_string()} : std::string_view{};
}

async::Task<NodeAnswer> ask_in(async::Scope& scope, AskJob& job) {
  const auto executor = co_await asio::this_coro::executor;
  if (job.sent != nullptr) *job.sent = Sent::no;
  CO_TRY(os::Fd socket, co_await connect_to(job.node->address));
  const Connection connection{scope, executor, std::move(socket)};
  CO_TRY(const http::ResponseHead head, co_await send(*connection, job));
  CO_TRY(std::string body, co_await (*connection).read_body(kLargestAnswer));
  NodeAnswer answer = read_answer(head.status, std::move(body));
  // A gateway says of the node behind it what a connection to the node would have shown.
  const std::string_view code = code_of(answer);
  const bool is_away = code == "CORDON-FLEET-NODE-AWAY";
  if (!is_away && code != "CORDON-FLEET-ANSWER-LOST") co_return answer;
  if (is_away && job.sent != nullptr) *job.sent = Sent::no;
  co_return Error{Errc::unavailable, std::string{answer.json.at("detail").as_string()}};
}

// Gives `take` every whole line of `held`, and leaves the rest. False: it has had enough.
async::Task<bool> take_lines(std::string& held, const LineTaker& taker) {
  std::size_t begin = 0;
  bool wants_more = true;
  for (std::size_t end = 0; wants_more && (end = held.find('\n', begin)) != std::string::npos;) {
    CO_TRY(wants_more, co_await taker.take(held.substr(begin, end - begin)));
    begin = end + 1;
  }
  held.erase(0, begin);
  co_return wants_more;
}

async::Task<void> ask_lines_in(async::Scope& scope, AskJob& job) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(os::Fd socket, co_await connect_to(job.node->address));
  const Connection connection{scope, executor, std::move(socket)};
  CO_TRY(const http::ResponseHead head, co_await send(*connection, job));
  if (head.status != 200) {
    CO_TRY(std::string body, co_await (*connection).read_body(kLargestAnswer));
    *job.refusal = read_answer(head.status, std::move(body));
    co_return Status{};
  }
  job.taker.begin();
  std::string held;
  std::vector<char> room(std::size_t{64} << 10U);
  for (;;) {
    CO_TRY(const std::size_t count, co_await (*connection).read_some(room));
    if (count == 0) co_return Status{};
    held.append(room.data(), count);
    CO_TRY(const bool wants_more, co_await take_lines(held, job.taker));
    if (!wants_more) co_return Status{};
    if (held.size() > kLongestLine)
      co_return Error{Errc::invalid, "the node sent a line without end"};
  }
}

}  // namespace

void add_node_flags(CLI::App& verb, NodeOptions& options) {
  verb.add_option("--node", options.node,
                  "The node: a socket's path, or http://127.0.0.1:PORT; by default CORDON_NODE, "
                  "else " +
                      std::string{kUsualNode})
      ->type_name("PATH|URL");
  verb.add_option("--token-file", options.token_file, "The token; by default CORDON_TOKEN")
      ->type_name("FILE");
  verb.add_option("--tenant", options.tenant, "Whose things are meant; for an operator")
      ->type_name("NAME");
  verb.add_flag("--json", options.json, "Print JSON, as the node answers");
}

Result<Node> find_node(const NodeOptions& options, Context& context) {
  std::string place = options.node;
  if (place.empty()) place = context.environment("CORDON_NODE").value_or("");
  if (place.empty()) place = kUsualNode;
  TRY(NodeAddress address, parse_node_address(place));
  Node node{.address = std::move(address), .fields = {}};
  TRY(const std::string token, token_of(options, context));
  if (!token.empty()) node.fields.push_back({"Authorization", "Bearer " + token});
  if (!options.tenant.empty()) node.fields.push_back({"Cordon-Tenant", options.tenant});
  return node;
}

NodeAnswer read_answer(int status, std::string body) {
  constexpr int kNoNode = 502;
  NodeAnswer answer{.status = status, .body = std::move(body)};
  if (answer.body.empty() && answer.is_good()) return answer;
  boost::system::error_code error;
  answer.json = boost::json::parse(answer.body, error);
  if (error || !answer.json.is_object()) {
    answer.json = nullptr;
    answer.status = kNoNode;
  }
  return answer;
}

async::Task<NodeAnswer> ask(const Node& node, NodeRequest request, Sent* sent) {
  return async::in_scope(ask_in,
                         AskJob{.node = &node, .request = std::move(request), .sent = sent});
}

asio::awaitable<bool> answers(const Node& node) {
  const auto said = co_await async::within(kSoon, ask(node, {.path = "/v1/health"}));
  co_return said && said->is_good();
}

namespace {

// Returns when nobody has answered for some seconds.
asio::awaitable<void> until_silent(const Node& node) {
  for (int missed = 0; missed < kMostMissed;) {
    asio::steady_timer pause{co_await asio::this_coro::executor, kBetweenLooks};
    co_await pause.async_wait(asio::use_awaitable);
    missed = co_await answers(node) ? 0 : missed + 1;
  }
}

async::Task<NodeAnswer> ask_while_there(const Node& node, NodeRequest request) {
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (ask(node, std::move(request)) || until_silent(node));
  if (auto* const answer = std::get_if<0>(&first)) co_return std::move(*answer);
  co_return Error{Errc::unavailable,
                  fmt::format("no node at {}: it takes connections and does not answer; is cordond "
                              "running? Another one is named by --node or CORDON_NODE",
                              to_string(node.address))};
}

}  // namespace

Result<NodeAnswer> ask_now(const Node& node, NodeRequest request) {
  asio::io_context loop{1};
  return async::block_on(loop, ask_while_there(node, std::move(request)));
}

async::Task<void> ask_lines(const Node& node, std::string path, LineTaker taker,
                            NodeAnswer& refusal) {
  return async::in_scope(ask_lines_in, AskJob{.node = &node,
                                              .request = {.path = std::move(path)},
                                              .taker = std::move(taker),
                                              .refusal = &refusal});
}

Result<std::string> sandbox_path(const std::string& id, std::string_view below) {
  const auto parsed = SandboxId::parse(id);
  if (!parsed) {
    return Error{Errc::not_found, fmt::format("{}: this is no sandbox's id; cordon ps lists them",
                                              terminal::printable(id))};
  }
  return fmt::format("/v1/sandboxes/{}{}", parsed->text(), below);
}

std::string escaped_for_query(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || std::string_view{"-._~/"}.contains(c);
    if (is_plain) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace cordon::cli
