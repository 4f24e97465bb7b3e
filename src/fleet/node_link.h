// SPDX-License-Identifier: Apache-2.0
// Connections to one node: made where they are needed, and kept for the next request.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "http/client_tls.h"
#include "http/forward.h"
#include "http/watchdog.h"

namespace cordon::fleet {

// What all connections of a gateway share; outlives them.
struct LinkHouse {
  explicit LinkHouse(const asio::any_io_executor& executor)
      : executor{executor}, watchdog{executor} {}

  asio::any_io_executor executor;
  http::Watchdog watchdog;
  std::optional<http::ClientTls> tls{};  // nothing: nodes are spoken to in the clear
  std::vector<char> room = std::vector<char>(std::size_t{64} << 10U);
};

class NodeConnection final : public http::FarEnd {
 public:
  // To `address`, as summaries have them. Under TLS the other side has proven to be `name`.
  // `unavailable` or `timeout`: nothing was sent.
  static async::Task<std::unique_ptr<NodeConnection>> open(LinkHouse& house, std::string address,
                                                           std::string name);
  ~NodeConnection() override;
  NodeConnection(const NodeConnection&) = delete;
  NodeConnection& operator=(const NodeConnection&) = delete;

  async::Task<std::string> read_some() override;
  async::Task<void> write(std::string bytes) override;
  void shutdown_write() override {}  // of TLS there is none: the other side hears the end

  // Still open, and nothing has come that nobody asked for.
  bool is_silent();

 private:
  friend class NodeLink;
  struct Wire;
  explicit NodeConnection(std::shared_ptr<Wire> wire) : wire_{std::move(wire)} {}
  std::shared_ptr<Wire> wire_;  // its owners: this, and who waits for it
};

// Used from the loop's thread only.
class NodeLink {
 public:
  // Nodes close those that are idle for a minute: a request on one that is about to go is lost.
  static constexpr std::chrono::seconds kIdle{20};
  static constexpr std::size_t kMostIdle = 64;

  // `house` outlives it. `name`: what the node proves to be.
  NodeLink(LinkHouse& house, std::string name) : house_{house}, name_{std::move(name)} {}

  // One that is idle, or a new one.
  async::Task<std::unique_ptr<NodeConnection>> take(std::string address);
  // One on which another request may follow.
  void give_back(std::string address, std::unique_ptr<http::FarEnd> connection);
  // Those that have been idle for too long, or all.
  void close_idle(Ticks now);
  // None is taken again: what does not answer now would swallow a request on an old one.
  void drop_idle() { idle_.clear(); }
  // Also those that are lent: who waits on one gets an error.
  void close_all();

 private:
  struct Idle {
    std::unique_ptr<NodeConnection> connection;
    std::string address;
    Ticks since;
  };
  LinkHouse& house_;
  std::string name_;
  std::vector<Idle> idle_;  // used last, last
  std::vector<std::weak_ptr<NodeConnection::Wire>> made_;
};

}  // namespace cordon::fleet
