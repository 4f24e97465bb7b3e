// SPDX-License-Identifier: Apache-2.0
#include "sandbox/guest_link.h"

#include <array>
#include <type_traits>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "async/borrowed_fd.h"
#include "async/waiting.h"

namespace cordon::sandbox {
namespace {

Error gone() { return Error{Errc::unavailable, "the sandbox has ended"}; }

Error silent(std::chrono::milliseconds patience) {
  return Error{
      Errc::timeout,
      fmt::format("the sandbox was launched, and its pid 1 has said nothing within {} s: "
                  "either this machine has no time for it, then try again with less beside "
                  "it, or what stands in front of it hangs, which cordon doctor tries",
                  std::chrono::duration<double>{patience}.count())};
}

}  // namespace

// On a stream that was fetched the guest begins by itself; asked for it once more it would repeat
// what may be acknowledged by then.
GuestLink::GuestLink(const asio::any_io_executor& executor, os::Fd control, Origin origin,
                     std::chrono::milliseconds first_word)
    : stream_{executor, control.release()},
      outbox_{executor},
      processes_{executor, outbox_, origin},
      files_{executor, outbox_},
      tunnels_{executor, outbox_},
      watches_{executor, outbox_},
      usage_news_{executor, asio::steady_timer::time_point::max()},
      awaits_first_word_{origin == Origin::launched},
      first_word_{executor, first_word},
      patience_{first_word} {
  if (origin == Origin::launched) outbox_.send(frame::Resume{});
}

asio::awaitable<void> GuestLink::serve() {
  using namespace asio::experimental::awaitable_operators;
  co_await (read_in() && write_out() && await_first_word());
}

asio::awaitable<void> GuestLink::await_first_word() {
  if (!awaits_first_word_ || outbox_.ended()) co_return;
  const auto [is_cut] = co_await first_word_.async_wait(async::kQuiet);
  if (!is_cut && awaits_first_word_) end(silent(patience_));
}

asio::awaitable<void> GuestLink::read_in() {
  boost::system::error_code failure;
  stream_.non_blocking(true, failure);
  while (!outbox_.ended()) {
    const auto [error] =
        co_await stream_.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) {
      end(gone());
    } else if (Status taken = take_what_came(); !taken) {
      end(std::move(taken).error());
    }
  }
}

Status GuestLink::take_what_came() {
  // One for all guests of a thread, most of which are silent: nothing is awaited while it is used.
  static thread_local std::array<std::byte, std::size_t{128} << 10U> room;
  boost::system::error_code failure;
  const std::size_t count = stream_.read_some(asio::buffer(room), failure);
  if (failure == asio::error::would_block) return {};
  if (failure) return gone();
  return take(std::span{room}.first(count));
}

asio::awaitable<void> GuestLink::write_out() {
  while (true) {
    const std::string batch = co_await outbox_.batch();
    if (batch.empty()) break;
    const auto [error, count] =
        co_await asio::async_write(stream_, asio::buffer(batch), async::kQuiet);
    if (error) end(gone());
  }
  end(outbox_.why());  // it may have ended by itself
}

void GuestLink::end(Error why) {
  outbox_.end(std::move(why));
  boost::system::error_code ignored;
  if (stream_.is_open()) stream_.close(ignored);
  usage_news_.cancel();
  first_word_.cancel();
  processes_.end();
  files_.end();
  tunnels_.end();
  watches_.end();
}

Result<os::Fd> GuestLink::copy_stream() {
  if (!stream_.is_open()) return gone();
  return os::duplicate(*async::BorrowedFd{stream_});
}

void GuestLink::close(std::string why) { end(Error{Errc::unavailable, std::move(why)}); }

Status GuestLink::take_hello(const frame::Hello& hello) {
  if (hello.version != frame::kGuestVersion) return protocol_error("an unknown version");
  awaits_first_word_ = false;
  first_word_.cancel();
  return {};
}

Status GuestLink::take_usage(const frame::Usage& usage) {
  const auto asked = usages_.find(usage.request);
  if (asked == usages_.end()) return protocol_error("an answer to no question");
  asked->second = usage;
  usage_news_.cancel();
  return {};
}

template <class Said>
Status GuestLink::hear(Said& said) {
  if constexpr (std::is_same_v<Said, frame::Hello>) {
    return take_hello(said);
  } else if constexpr (std::is_same_v<Said, frame::Usage>) {
    return take_usage(said);
  } else if constexpr (std::is_same_v<Said, frame::Traced>) {
    if (traced_) traced_(said);
    return {};
  } else if constexpr (std::is_same_v<Said, frame::Ready>) {
    return Error{Errc::invalid, "Ready is not for a host"};
  } else if constexpr (std::is_same_v<Said, frame::FileReply>) {
    return files_.take(std::move(said));
  } else if constexpr (requires { said.tunnel; }) {
    return tunnels_.take(std::move(said));
  } else if constexpr (requires { said.watch; }) {
    return watches_.take(std::move(said));
  } else {
    return processes_.take(std::move(said));
  }
}

Status GuestLink::take(std::span<const std::byte> bytes) {
  cutter_.push(bytes);
  for (;;) {
    const auto next = cutter_.next();
    if (!next) return protocol_error(next.error().text());
    const auto& body = *next;
    if (!body) return {};
    auto frame = frame::decode_from_guest(*body);
    if (!frame) return protocol_error(frame.error().text());
    TRY_DO(std::visit([this](auto& said) { return hear(said); }, *frame));
  }
}

async::Task<frame::Usage> GuestLink::usage() {
  const std::uint32_t request = next_usage_++;
  usages_.emplace(request, std::nullopt);
  outbox_.send(frame::AskUsage{request});
  for (;;) {
    if (outbox_.ended()) co_return outbox_.why();
    if (auto& answer = usages_.at(request); answer) {
      const frame::Usage usage = *answer;
      usages_.erase(request);
      co_return usage;
    }
    co_await usage_news_.async_wait(async::kQuiet);
  }
}

}  // namespace cordon::sandbox
