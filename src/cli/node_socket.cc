// SPDX-License-Identifier: Apache-2.0
#include "cli/node_socket.h"

#include <boost/asio/this_coro.hpp>

namespace cordon::cli {
namespace {

constexpr std::size_t kLargestRefusal = std::size_t{1} << 20U;

}  // namespace

async::Task<std::shared_ptr<NodeSocket>> NodeSocket::open(async::Scope& scope, const Node& node,
                                                          std::string path, NodeAnswer& refusal) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(os::Fd socket, co_await connect_to(node.address));
  const auto client = std::make_shared<http::Client>(
      executor, std::move(socket), http::Authority{.host = "localhost", .port = {}});
  auto opened = std::make_shared<NodeSocket>(client);
  scope.spawn(watch(client));
  auto upgraded = co_await client->upgrade(std::move(path), node.fields, {});
  if (upgraded) {
    opened->socket_ = *std::move(upgraded);
    co_return opened;
  }
  if (upgraded.error().code() == Errc::denied) {
    CO_TRY(const http::ResponseHead head, co_await client->head());
    CO_TRY(std::string body, co_await client->read_body(kLargestRefusal));
    refusal = read_answer(head.status, std::move(body));
  }
  co_return std::move(upgraded).error();
}

asio::awaitable<void> watch(std::shared_ptr<http::Client> client) { co_await client->watch(); }

}  // namespace cordon::cli
