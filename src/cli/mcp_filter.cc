// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp_filter.h"

#include <utility>

#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "async/waiting.h"
#include "base/bytes.h"
#include "cli/program_beside.h"
#include "os/file.h"
#include "os/standard_streams.h"
#include "policy/text.h"

namespace cordon::cli {
namespace {

constexpr std::size_t kPipe = std::size_t{256} << 10U;
constexpr std::size_t kMostWords = 4096;

Error ended_with(const os::Fd& err) {
  const auto words = os::read_all(err, kMostWords);
  return {Errc::unavailable, fmt::format("the filter cordon-mcp has ended: {}",
                                         policy::printable(words ? *words : std::string{}))};
}

// Frees the turn however its owner leaves, also where it is cancelled.
class Turn {
 public:
  Turn(bool& is_busy, asio::steady_timer& waiters) : is_busy_{is_busy}, waiters_{waiters} {
    is_busy_ = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    is_busy_ = false;
    waiters_.cancel();
  }

 private:
  bool& is_busy_;
  asio::steady_timer& waiters_;
};

}  // namespace

Result<StartedFilter> start_filter(const mcp::Setup& setup) {
  TRY(os::Piped piped,
      os::spawn_piped(program_beside("cordon-mcp"), {"cordon-mcp", "--serve"}, kPipe));
  StartedFilter filter{std::move(piped.child), std::move(piped.in), std::move(piped.out),
                       std::move(piped.err)};
  const std::vector<std::byte> frame = encode(mcp::ToFilter{setup});
  if (frame.size() > mcp::kLongestFrame) {
    return Error{Errc::exhausted, "the rules of the tools are longer than the filter takes"};
  }
  if (!os::write_all(filter.in, as_text(frame))) return ended_with(filter.err);
  const std::vector<std::byte> done = encode(mcp::FromFilter{mcp::Done{}});
  std::string answer;
  while (answer.size() < done.size()) {
    std::string part(done.size() - answer.size(), '\0');
    const auto count = os::read_when_ready(filter.out.get(), part);
    if (!count || *count == 0) return ended_with(filter.err);
    answer.append(part, 0, *count);
  }
  if (answer != as_text(done)) return Error{Errc::internal, "the filter answers out of turn"};
  return filter;
}

FilterLink::FilterLink(const asio::any_io_executor& executor, StartedFilter filter)
    : child_{std::move(filter.child)},
      in_{executor, filter.in.release()},
      out_{executor, filter.out.release()},
      err_{std::move(filter.err)},
      turn_{executor, async::kNever} {}

Error FilterLink::why_ended() const { return ended_with(err_); }

async::Task<mcp::FromFilter> FilterLink::next() {
  while (true) {
    CO_TRY(const auto body, cutter_.next());
    if (body) co_return mcp::decode_from_filter(*body);
    const auto [error, count] = co_await out_.async_read_some(asio::buffer(buffer_), async::kQuiet);
    if (error) co_return why_ended();
    cutter_.push(as_bytes(std::string_view{buffer_.data(), count}));
  }
}

async::Task<void> FilterLink::exchange(const mcp::ToFilter& frame, const Take& take) {
  const std::vector<std::byte> bytes = encode(frame);
  const auto [error, count] =
      co_await asio::async_write(in_, asio::buffer(bytes.data(), bytes.size()), async::kQuiet);
  if (error) co_return why_ended();
  while (true) {
    CO_TRY(mcp::FromFilter act, co_await next());
    if (std::holds_alternative<mcp::Done>(act)) co_return Status{};
    CO_TRY_DO(take(std::move(act)));
  }
}

async::Task<void> FilterLink::tell(mcp::ToFilter frame, const Take& take) {
  while (is_busy_) co_await turn_.async_wait(async::kQuiet);
  if (failed_) co_return *failed_;
  const Turn turn{is_busy_, turn_};
  Status done = co_await exchange(frame, take);
  if (!done) failed_ = done.error();
  co_return done;
}

}  // namespace cordon::cli
