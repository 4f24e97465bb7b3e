// SPDX-License-Identifier: Apache-2.0
#include "http/stream.h"

#include <algorithm>
#include <cstring>
#include <openssl/err.h>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/socket_bio.h"
#include "http/watchdog.h"

namespace cordon::http {
namespace {

using Wait = Stream::Socket::wait_type;

bool is_would_block(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

// A cancelled task leaves its wait by an exception.
class Waiting {
 public:
  explicit Waiting(int& count) noexcept : count_{count} { ++count_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { --count_; }

 private:
  int& count_;
};

constexpr std::chrono::seconds kRest{1};
// The most that OpenSSL puts into a record; and how much of what is written goes out at once.
constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t kAtOnce = std::size_t{64} << 10U;

// What OpenSSL says of a failure is of that call then. Clearing where nothing is costs more than
// looking.
void forget_errors() {
  if (::ERR_peek_error() != 0) ::ERR_clear_error();
}

Error not_yet() { return {Errc::timeout, "nothing yet"}; }

Error broken(const boost::system::error_code& error) {
  return {Errc::unavailable, "the connection broke: " + error.message()};
}

}  // namespace

Stream::Stream(Socket socket, std::string before, Watchdog& watchdog)
    : socket_{std::move(socket)}, before_{std::move(before)}, watchdog_{watchdog} {
  boost::system::error_code ignored;  // a socket that is dead says so at its first use
  socket_.non_blocking(true, ignored);
  watchdog_.add(*this);
}

Stream::Stream(asio::ip::tcp::socket socket, std::string before, Watchdog& watchdog)
    : Stream{Socket{std::move(socket)}, std::move(before), watchdog} {
  boost::system::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
}

Stream::~Stream() { watchdog_.remove(*this); }

Ticks Stream::deadline() const noexcept { return std::min(touched_ + patience_, limit_); }

void Stream::nudge() noexcept {
  nudge_ = Ticks::max();
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

Ticks Stream::rest_time() const noexcept {
  return ssl_ && !is_rested_ ? touched_ + kRest : Ticks::max();
}

void Stream::rest() noexcept {
  if (!has_bytes()) static_cast<void>(::SSL_free_buffers(ssl_.get()));
  is_rested_ = true;
}

void Stream::limit(std::chrono::nanoseconds span) {
  limit_ = std::chrono::steady_clock::now() + span;
}

void Stream::touch() {
  touched_ = std::chrono::steady_clock::now();
  is_rested_ = false;
}

void Stream::expire() noexcept {
  is_expired_ = true;
  close();
}

void Stream::close() noexcept {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Stream::shut_receive() noexcept {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_receive, ignored);
}

void Stream::abort() noexcept {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
  socket_.close(ignored);
}

Error Stream::ended() const {
  if (is_expired_) return {Errc::timeout, "the other side is silent"};
  return {Errc::unavailable, "the connection is closed"};
}

async::Task<void> Stream::wait(Wait what) {
  touch();
  const Waiting waiting{waiting_};
  watchdog_.expect(std::min({deadline(), rest_time(), nudge_}));
  boost::system::error_code error;
  co_await socket_.async_wait(what, asio::redirect_error(asio::use_awaitable, error));
  if (!socket_.is_open()) co_return ended();
  // A nudge reaches reader and writer alike: both look again, and wait again. Where the task was
  // cancelled, that next wait throws.
  if (error && error != asio::error::operation_aborted) co_return ended();
  co_return Status{};
}

Error Stream::failure(int returned, Wait& needs) {
  const int kind = ::SSL_get_error(ssl_.get(), returned);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
    needs = kind == SSL_ERROR_WANT_READ ? Socket::wait_read : Socket::wait_write;
    return not_yet();
  }
  if (kind == SSL_ERROR_SYSCALL) {
    forget_errors();
    return {Errc::unavailable, "the connection broke"};
  }
  if (ERR_GET_REASON(::ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    forget_errors();
    return {Errc::unavailable, "the other side closed the connection, and did not end TLS"};
  }
  return openssl_error("TLS", Errc::unavailable);
}

Result<std::size_t> Stream::try_read(std::span<char> room, Wait& needs) {
  if (ssl_) {
    forget_errors();
    std::size_t size = 0;
    const int done = ::SSL_read_ex(ssl_.get(), room.data(), room.size(), &size);
    if (done == 1) return size;
    if (::SSL_get_error(ssl_.get(), done) == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
    return failure(done, needs);
  }
  if (before_used_ < before_.size()) {
    const auto size = before_.copy(room.data(), room.size(), before_used_);
    before_used_ += size;
    return size;
  }
  boost::system::error_code error;
  const auto size = socket_.read_some(asio::buffer(room.data(), room.size()), error);
  needs = Socket::wait_read;
  if (is_would_block(error)) return not_yet();
  if (error == asio::error::eof) return std::size_t{0};
  if (error) return broken(error);
  return size;
}

Result<std::size_t> Stream::make_record(std::span<const char> bytes, Wait& needs) {
  forget_errors();
  std::size_t size = 0;
  const int done = ::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &size);
  if (done == 1) return size;
  return failure(done, needs);
}

Result<std::size_t> Stream::gather_records(std::span<const char> bytes, Wait& needs) {
  is_gathering_ = true;
  std::size_t taken = 0;
  Status failed;
  while (failed && taken < bytes.size() && records_.size() < kAtOnce) {
    auto size = make_record(bytes.subspan(taken), needs);
    if (size) taken += *size;
    if (!size) failed = std::move(size).error();
  }
  is_gathering_ = false;
  // What was made goes out before anything is said of the rest.
  if (!failed && records_.empty()) return std::move(failed).error();
  return taken;
}

Status Stream::push_records(Wait& needs) {
  boost::system::error_code error;
  const auto left = asio::buffer(records_) + records_used_;
  records_used_ += socket_.write_some(left, error);
  needs = Socket::wait_write;
  if (is_would_block(error)) return not_yet();
  if (error) return broken(error);
  if (records_used_ < records_.size()) return {};
  records_.clear();
  records_used_ = 0;
  return {};
}

Result<std::size_t> Stream::try_write(std::span<const char> bytes, Wait& needs) {
  if (ssl_ && records_.empty() && bytes.size() <= kRecord) return make_record(bytes, needs);
  if (ssl_) {
    const bool is_fresh = records_.empty();
    TRY(const std::size_t taken, is_fresh ? gather_records(bytes, needs) : std::size_t{0});
    Status pushed = push_records(needs);
    if (pushed || (taken > 0 && pushed.error().code() == Errc::timeout)) return taken;
    return std::move(pushed).error();
  }
  boost::system::error_code error;
  const auto size = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  needs = Socket::wait_write;
  if (is_would_block(error)) return not_yet();
  if (error) return broken(error);
  return size;
}

Result<std::size_t> Stream::read_now(std::span<char> room) {
  if (!socket_.is_open()) return ended();
  Wait needs = Socket::wait_read;
  return try_read(room, needs);
}

bool Stream::has_bytes() const {
  return ssl_ ? ::SSL_has_pending(ssl_.get()) == 1 : before_used_ < before_.size();
}

async::Task<std::size_t> Stream::read_some(std::span<char> room) {
  // Who has just been told something has not answered yet: a read would be in vain.
  if (std::exchange(has_spoken_, false) && !has_bytes() && socket_.is_open())
    CO_TRY_DO(co_await wait(Socket::wait_read));
  for (;;) {
    if (!socket_.is_open()) co_return ended();
    Wait needs = Socket::wait_read;
    auto size = try_read(room, needs);
    if (size) touch();
    if (size || size.error().code() != Errc::timeout) co_return size;
    CO_TRY_DO(co_await wait(needs));
  }
}

async::Task<std::size_t> Stream::read_before(Ticks deadline, std::span<char> room) {
  nudge_ = deadline;
  bool is_in_vain = std::exchange(has_spoken_, false) && !has_bytes();
  for (;;) {
    if (!socket_.is_open()) co_return ended();
    Wait needs = Socket::wait_read;
    auto size = is_in_vain ? Result<std::size_t>{not_yet()} : try_read(room, needs);
    is_in_vain = false;
    if (size || size.error().code() != Errc::timeout) {
      nudge_ = Ticks::max();
      co_return size;
    }
    if (std::chrono::steady_clock::now() >= deadline)
      co_return Error{Errc::timeout, "the other side is silent"};
    CO_TRY_DO(co_await wait(needs));
  }
}

async::Task<void> Stream::write(std::span<const char> bytes) {
  while (!bytes.empty() || !records_.empty()) {
    if (!socket_.is_open()) co_return ended();
    Wait needs = Socket::wait_write;
    auto size = try_write(bytes, needs);
    if (size) {
      touch();
      bytes = bytes.subspan(*size);
      has_spoken_ = true;
    } else if (size.error().code() == Errc::timeout) {
      CO_TRY_DO(co_await wait(needs));
    } else {
      co_return std::move(size).error();
    }
  }
  if (records_.capacity() > 0) records_ = {};
  co_return Status{};
}

async::Task<void> Stream::handshake(OwnedSsl ssl) {
  ssl_ = std::move(ssl);
  BIO* const bio = new_socket_bio(*this);
  if (bio == nullptr) co_return openssl_error("BIO_new");
  ::SSL_set_bio(ssl_.get(), bio, bio);
  for (;;) {
    if (!socket_.is_open()) co_return ended();
    forget_errors();
    const int done = ::SSL_do_handshake(ssl_.get());
    if (done == 1) co_return Status{};
    Wait needs = Socket::wait_read;
    Error error = failure(done, needs);
    if (error.code() != Errc::timeout) co_return error;
    CO_TRY_DO(co_await wait(needs));
  }
}

async::Task<void> Stream::shut() {
  while (ssl_ && socket_.is_open()) {
    forget_errors();
    const int done = ::SSL_shutdown(ssl_.get());
    if (done >= 0) break;  // 0: told, and not answered yet
    Wait needs = Socket::wait_write;
    Error error = failure(done, needs);
    if (error.code() != Errc::timeout) break;
    if (needs == Socket::wait_read) break;
    CO_TRY_DO(co_await wait(needs));
  }
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  co_return Status{};
}

}  // namespace cordon::http
