// SPDX-License-Identifier: Apache-2.0
// One end of a connection, in the clear or under TLS: bytes in, bytes out, and how long it waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "http/openssl.h"

namespace cordon::http {

class Watchdog;

// The patience of who limits each wait by itself, or waits as long as there is a connection.
inline constexpr std::chrono::hours kUnlimited{24 * 365};

// Used from the loop's thread only. One reader and one writer at a time. OpenSSL works on the
// socket itself and nothing is buffered between them but the records of one long write, while it
// lasts; a stream that has waited for a second gives OpenSSL's own buffers back.
class Stream {
 public:
  // Of TCP or of the Unix domain: both convert to it, and nothing is asked of the kernel for that.
  using Socket = asio::generic::stream_protocol::socket;

  // `before`: bytes that were read from the socket already; they are read first, also by TLS.
  // Waits are ended by `watchdog`, which outlives the stream.
  Stream(Socket socket, std::string before, Watchdog& watchdog);
  // The same, and what is written goes out at once.
  Stream(asio::ip::tcp::socket socket, std::string before, Watchdog& watchdog);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // All that follows goes through TLS. `ssl` knows whether it is client or server (tls.h).
  async::Task<void> handshake(OwnedSsl ssl);

  // At least one byte, or 0: the other side has ended what it says. Under TLS that end is proven; a
  // connection that just breaks off is an error (unavailable).
  // `room` is written to right before it returns, never while it waits: streams of one loop may
  // share theirs.
  async::Task<std::size_t> read_some(std::span<char> room);
  // The same, but no longer than until `deadline`: then Errc::timeout, and the stream is open
  // still.
  async::Task<std::size_t> read_before(Ticks deadline, std::span<char> room);
  // What is there already; Errc::timeout: nothing is.
  Result<std::size_t> read_now(std::span<char> room);

  // All of `bytes`, which stay where they are until it returns.
  async::Task<void> write(std::span<const char> bytes);

  // Says that nothing more follows; reading goes on.
  async::Task<void> shut();
  // What comes from now on is not read, what is here already is. In the Unix domain the other side
  // cannot send any more then, and knows it: nothing that it has sent is lost unread.
  void shut_receive() noexcept;
  // Ends it, so that the other side cannot take it for the proper end of what was said. (The Unix
  // domain has no such end: there only the framing tells.)
  void abort() noexcept;
  void close() noexcept;

  // How long a wait may last; bytes in the other direction begin it anew.
  void set_patience(std::chrono::nanoseconds patience) noexcept { patience_ = patience; }
  // From now on waits end after `span` whatever happens, until the limit is lifted.
  void limit(std::chrono::nanoseconds span);
  void lift_limit() noexcept { limit_ = Ticks::max(); }

  bool is_tls() const noexcept { return ssl_ != nullptr; }
  bool is_open() const noexcept { return socket_.is_open(); }
  bool is_expired() const noexcept { return is_expired_; }
  // For poll alone.
  int native_handle() noexcept { return socket_.native_handle(); }
  SSL* ssl() const noexcept { return ssl_.get(); }

 private:
  friend class Watchdog;
  friend struct SocketBio;

  Ticks deadline() const noexcept;
  void expire() noexcept;
  // Wakes whoever waits, to look at the time.
  void nudge() noexcept;
  // When a wait is long enough to rest, and resting.
  Ticks rest_time() const noexcept;
  void rest() noexcept;
  void touch();
  bool has_bytes() const;
  Error ended() const;
  Result<std::size_t> try_read(std::span<char> room, Socket::wait_type& needs);
  // How much of `bytes` was taken, and is sent or in `records_`.
  Result<std::size_t> try_write(std::span<const char> bytes, Socket::wait_type& needs);
  Result<std::size_t> make_record(std::span<const char> bytes, Socket::wait_type& needs);
  Result<std::size_t> gather_records(std::span<const char> bytes, Socket::wait_type& needs);
  Status push_records(Socket::wait_type& needs);
  // The failure of the last call of OpenSSL. Errc::timeout: it needs what `needs` says.
  Error failure(int returned, Socket::wait_type& needs);
  async::Task<void> wait(Socket::wait_type what);

  Socket socket_;
  std::string before_;
  std::size_t before_used_ = 0;
  OwnedSsl ssl_;
  // Of one long write under TLS: each call of the kernel is a packet, and a look for whoever reads.
  std::string records_;
  std::size_t records_used_ = 0;
  bool is_gathering_ = false;
  Watchdog& watchdog_;
  std::size_t watched_at_ = 0;  // of the watchdog's
  std::chrono::nanoseconds patience_ = std::chrono::seconds{120};
  Ticks touched_{};
  Ticks limit_ = Ticks::max();
  Ticks nudge_ = Ticks::max();  // of a read that goes no further
  int waiting_ = 0;
  bool is_expired_ = false;
  bool is_rested_ = false;
  bool has_spoken_ = false;  // and nothing was read since
};

}  // namespace cordon::http
