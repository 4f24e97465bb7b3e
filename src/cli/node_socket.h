// SPDX-License-Identifier: Apache-2.0
// A WebSocket to a node.
#pragma once

#include <memory>
#include <string>

#include "async/scope.h"
#include "cli/node_client.h"
#include "http/client.h"

namespace cordon::cli {

// Watches a connection that lives as long as somebody uses it.
asio::awaitable<void> watch(std::shared_ptr<http::Client> client);

class NodeSocket {
 public:
  // On a connection of its own, whose watch runs in `scope` for as long as this lives. `denied`:
  // the node answered `refusal`. `path` with its query.
  static async::Task<std::shared_ptr<NodeSocket>> open(async::Scope& scope, const Node& node,
                                                       std::string path, NodeAnswer& refusal);
  explicit NodeSocket(std::shared_ptr<http::Client> client) : client_{std::move(client)} {}
  NodeSocket(const NodeSocket&) = delete;
  NodeSocket& operator=(const NodeSocket&) = delete;
  ~NodeSocket() { client_->stop(); }

  http::WebSocket& operator*() const noexcept { return *socket_; }
  http::WebSocket* operator->() const noexcept { return socket_.get(); }

 private:
  std::shared_ptr<http::Client> client_;  // its two owners: this, and its watch
  std::unique_ptr<http::WebSocket> socket_;
};

}  // namespace cordon::cli
