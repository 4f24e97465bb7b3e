// SPDX-License-Identifier: Apache-2.0
#include "cli/node_stream.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "async/scope.h"
#include "cli/node_socket.h"
#include "http/client.h"

namespace cordon::cli {
namespace {

constexpr std::size_t kLargestStreamAnswer = std::size_t{1} << 20U;
constexpr std::size_t kStreamPiece = std::size_t{256} << 10U;
constexpr http::ClientTimes kStreamTimes{.head = std::chrono::hours{1},
                                         .body = std::chrono::minutes{5},
                                         .write = std::chrono::minutes{5}};

// Watched by a scope until this dies.
class StreamLine {
 public:
  StreamLine(async::Scope& scope, const asio::any_io_executor& executor, os::Fd socket)
      : client_{std::make_shared<http::Client>(executor, std::move(socket),
                                               http::Authority{.host = "localhost", .port = {}},
                                               kStreamTimes)} {
    scope.spawn(watch(client_));
  }
  StreamLine(const StreamLine&) = delete;
  StreamLine& operator=(const StreamLine&) = delete;
  ~StreamLine() { client_->stop(); }
  http::Client& operator*() const noexcept { return *client_; }

 private:
  std::shared_ptr<http::Client> client_;  // its two owners: this, and its watch
};

struct StreamJob {
  const Node* node;
  NodeRequest request;
  BodySource next{};
  BodySink take{};
  NodeAnswer* refusal = nullptr;
};

http::Fields fields_of(const StreamJob& job) {
  http::Fields fields = job.node->fields;
  std::ranges::copy(job.request.fields, std::back_inserter(fields));
  return fields;
}

async::Task<NodeAnswer> send_in(async::Scope& scope, StreamJob& job) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(os::Fd socket, co_await connect_to(job.node->address));
  const StreamLine line{scope, executor, std::move(socket)};
  CO_TRY_DO(co_await (*line).begin(job.request.method, job.request.path, fields_of(job), {}));
  for (;;) {
    CO_TRY(const std::string piece, co_await job.next());
    if (piece.empty()) {
      static_cast<void>(co_await (*line).finish());
      break;
    }
    // Who reads no more has answered already.
    if (!co_await (*line).write(piece)) break;
  }
  CO_TRY(const http::ResponseHead head, co_await (*line).head());
  CO_TRY(std::string body, co_await (*line).read_body(kLargestStreamAnswer));
  co_return read_answer(head.status, std::move(body));
}

async::Task<void> take_in(async::Scope& scope, StreamJob& job) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(os::Fd socket, co_await connect_to(job.node->address));
  const StreamLine line{scope, executor, std::move(socket)};
  CO_TRY_DO(co_await (*line).send("GET", job.request.path, fields_of(job), {}));
  CO_TRY(const http::ResponseHead head, co_await (*line).head());
  if (head.status != 200) {
    CO_TRY(std::string body, co_await (*line).read_body(kLargestStreamAnswer));
    *job.refusal = read_answer(head.status, std::move(body));
    co_return Status{};
  }
  std::vector<char> room(kStreamPiece);
  for (;;) {
    CO_TRY(const std::size_t count, co_await (*line).read_some(room));
    if (count == 0) co_return Status{};
    CO_TRY_DO(co_await job.take({room.data(), count}));
  }
}

}  // namespace

async::Task<NodeAnswer> send_pieces(const Node& node, NodeRequest request, BodySource next) {
  return async::in_scope(
      send_in, StreamJob{.node = &node, .request = std::move(request), .next = std::move(next)});
}

async::Task<void> take_pieces(const Node& node, std::string path, BodySink take,
                              NodeAnswer& refusal) {
  return async::in_scope(take_in, StreamJob{.node = &node,
                                            .request = {.path = std::move(path)},
                                            .take = std::move(take),
                                            .refusal = &refusal});
}

}  // namespace cordon::cli
