// SPDX-License-Identifier: Apache-2.0
#include "fleet/node_link.h"

#include <charconv>
#include <span>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/deadline.h"
#include "async/waiting.h"
#include "base/log.h"
#include "http/shared_inbox.h"
#include "http/stream.h"

namespace cordon::fleet {
namespace {

using asio::ip::tcp;

// Of a connection and its handshake. Nodes are near.
constexpr std::chrono::seconds kConnect{3};
constexpr std::size_t kTurn = std::size_t{256} << 10U;
// A record of TLS that is part of more; and how much is taken at once of what has come.
constexpr std::size_t kLargeRecord = std::size_t{8} << 10U;
constexpr std::size_t kPiece = std::size_t{64} << 10U;

// Before: check_address() holds.
tcp::endpoint endpoint_of(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  return {asio::ip::make_address(std::string{host}), port};
}

async::Task<tcp::socket> connected(asio::any_io_executor executor, tcp::endpoint to) {
  tcp::socket socket{executor};
  const auto [error] = co_await socket.async_connect(to, async::kQuiet);
  // What we lack ourselves says nothing of the node.
  const bool is_ours = error == boost::system::errc::too_many_files_open ||
                       error == boost::system::errc::too_many_files_open_in_system ||
                       error == boost::system::errc::no_buffer_space;
  if (is_ours) co_return Error{Errc::exhausted, "connect: " + error.message()};
  if (error) co_return Error{Errc::unavailable, "connect: " + error.message()};
  boost::system::error_code ignored;  // without it answers only come a little later
  socket.set_option(tcp::no_delay{true}, ignored);
  co_return socket;
}

}  // namespace

struct NodeConnection::Wire {
  Wire(tcp::socket socket, LinkHouse& house)
      : stream{std::move(socket), {}, house.watchdog}, room{house.room}, inbox{stream, room} {
    stream.set_patience(http::kUnlimited);
  }
  http::Stream stream;
  std::span<char> room;  // the house's
  http::SharedInbox inbox;
  std::size_t since_turn = 0;  // read without another's turn
};

async::Task<std::unique_ptr<NodeConnection>> NodeConnection::open(LinkHouse& house,
                                                                  std::string address,
                                                                  std::string name) {
  const tcp::endpoint to = endpoint_of(address);
  if (!house.tls && !to.address().is_loopback()) {
    co_return Error{Errc::denied,
                    "a node elsewhere is spoken to under TLS only: name [nodes] in the settings"};
  }
  CO_TRY(tcp::socket socket, co_await async::within(kConnect, connected(house.executor, to)));
  auto wire = std::make_shared<Wire>(std::move(socket), house);
  if (house.tls) {
    CO_TRY(http::OwnedSsl ssl, house.tls->connect(name));
    wire->stream.limit(kConnect);
    Status shaken = co_await wire->stream.handshake(std::move(ssl));
    wire->stream.lift_limit();
    if (!shaken) {
      log(LogLevel::warning, "fleet", "a node does not prove to be itself",
          {{"node", name}, {"address", address}, {"why", shaken.error().text()}});
      co_return Error{Errc::unavailable, "it does not prove to be itself"};
    }
  }
  co_return std::unique_ptr<NodeConnection>{new NodeConnection{std::move(wire)}};
}

NodeConnection::~NodeConnection() { wire_->stream.close(); }

async::Task<std::string> NodeConnection::read_some() {
  return [](std::shared_ptr<Wire> wire) -> async::Task<std::string> {
    CO_TRY(const std::string_view bytes, co_await wire->inbox.next(Ticks::max()));
    std::string copy{bytes};
    wire->inbox.keep({});
    // Of a stream: what has come already goes on with it, in one go. An error or the end is told
    // again by the next read, as TLS does.
    bool has_more = wire->stream.is_tls() && bytes.size() >= kLargeRecord;
    while (has_more && copy.size() < kPiece) {
      const std::size_t had = copy.size();
      copy.resize_and_overwrite(kPiece + kLargeRecord, [&](char* room, std::size_t size) {
        const auto more = wire->stream.read_now(std::span{room + had, size - had});
        has_more = more && *more > 0;
        return had + (has_more ? *more : 0);
      });
    }
    // A node that never lets us wait would have the loop's thread for itself.
    wire->since_turn += copy.size();
    if (wire->since_turn >= kTurn) {
      wire->since_turn = 0;
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    }
    co_return copy;
  }(wire_);
}

async::Task<void> NodeConnection::write(std::string bytes) {
  return [](std::shared_ptr<Wire> wire, std::string held) -> async::Task<void> {
    co_return co_await wire->stream.write(held);
  }(wire_, std::move(bytes));
}

bool NodeConnection::is_silent() {
  if (!wire_->stream.is_open() || wire_->inbox.has_bytes()) return false;
  char one = 0;
  const auto got = wire_->stream.read_now(std::span{&one, 1});
  return !got && got.error().code() == Errc::timeout;
}

async::Task<std::unique_ptr<NodeConnection>> NodeLink::take(std::string address) {
  while (!idle_.empty()) {
    Idle last = std::move(idle_.back());
    idle_.pop_back();
    const bool is_fresh = Ticks::clock::now() - last.since < kIdle && last.address == address;
    if (is_fresh && last.connection->is_silent()) co_return std::move(last.connection);
  }
  CO_TRY(auto made, co_await NodeConnection::open(house_, std::move(address), name_));
  std::erase_if(made_, [](const auto& one) { return one.expired(); });
  made_.push_back(made->wire_);
  co_return made;
}

void NodeLink::give_back(std::string address, std::unique_ptr<http::FarEnd> connection) {
  // All that are lent are of this class.
  auto* const own = static_cast<NodeConnection*>(connection.release());
  std::unique_ptr<NodeConnection> held{own};
  if (held && idle_.size() < kMostIdle) {
    idle_.push_back({std::move(held), std::move(address), Ticks::clock::now()});
  }
}

void NodeLink::close_idle(Ticks now) {
  std::erase_if(idle_, [now](const Idle& one) { return now - one.since >= kIdle; });
}

void NodeLink::close_all() {
  idle_.clear();
  for (const auto& each : made_) {
    if (const auto wire = each.lock()) wire->stream.close();
  }
  made_.clear();
}

}  // namespace cordon::fleet
