// SPDX-License-Identifier: Apache-2.0
#include "cli/output_follower.h"

#include <ostream>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "cli/node_away.h"
#include "cli/node_words.h"

namespace cordon::cli {
namespace {

using Steady = std::chrono::steady_clock;

}  // namespace

OutputFollower::OutputFollower(const Node& node, std::string path, OutputPlace from,
                               FollowRules rules, OutputSink& sink, std::ostream& err)
    : node_{node}, path_{std::move(path)}, cursor_{from}, rules_{rules}, sink_{sink}, err_{err} {}

// Who asks from a byte on says that it has all before: one that must not take anything from others
// asks from the beginning of what is held, and passes over what it had.
std::string OutputFollower::output_path() const {
  std::string path = path_ + "/output?acknowledge=client";
  if (!rules_.acknowledges) return path;
  if (const auto& out = cursor_.at()[0]) path += fmt::format("&stdout={}", *out);
  if (const auto& err = cursor_.at()[1]) path += fmt::format("&stderr={}", *err);
  return path;
}

bool OutputFollower::has_reached_until() const {
  if (!rules_.until) return false;
  for (std::size_t stream = 0; stream < 2; ++stream) {
    const auto& wanted = (*rules_.until)[stream];
    if (wanted && cursor_.at()[stream].value_or(0) < *wanted) return false;
  }
  return true;
}

async::Task<void> OutputFollower::acknowledge() {
  unacknowledged_ = 0;
  NodeRequest request{
      .method = "POST",
      .path = fmt::format("{}/acknowledge?stdout={}&stderr={}", path_, cursor_.at()[0].value_or(0),
                          cursor_.at()[1].value_or(0))};
  // Where it fails, the next request from there on says the same.
  static_cast<void>(co_await ask(node_, std::move(request)));
  co_return Status{};
}

async::Task<bool> OutputFollower::take_end(const OutputEnd& end, std::string line) {
  gone_ += cursor_.missing(number_at(end.process, "stdout_bytes").value_or(0),
                           number_at(end.process, "stderr_bytes").value_or(0));
  auto written = co_await sink_.put_end(std::move(line));
  sink_has_gone_ = !written;
  if (rules_.acknowledges && unacknowledged_ > 0) CO_TRY_DO(co_await acknowledge());
  process_ = end.process;
  co_return false;
}

void OutputFollower::begin() {
  lost_since_.reset();
  if (std::exchange(has_told_loss_, false)) err_ << "cordon: the node is back\n" << std::flush;
}

async::Task<bool> OutputFollower::take(std::string line) {
  auto read = read_output_line(line);
  is_nonsense_ = !read;
  if (!read) co_return std::move(read).error();
  if (const auto* const end = std::get_if<OutputEnd>(&*read)) {
    co_return co_await take_end(*end, std::move(line));
  }
  auto& piece = std::get<OutputPiece>(*read);
  gone_ += cursor_.take(piece);
  unacknowledged_ += piece.bytes.size();
  auto written = co_await sink_.put(std::move(piece));
  sink_has_gone_ = !written;
  if (!written) co_return std::move(written).error();
  if (rules_.acknowledges && unacknowledged_ >= kAcknowledgedAtOnce) {
    CO_TRY_DO(co_await acknowledge());
  }
  co_return !has_reached_until();
}

// Until it is worth trying again. `unavailable`: it was away for too long.
async::Task<void> OutputFollower::outlast() {
  if (!lost_since_) {
    lost_since_ = Steady::now();
    if (co_await answers(node_)) co_return Status{};
  }
  if (!std::exchange(has_told_loss_, true)) {
    err_ << fmt::format("cordon: the node has gone; waiting for it for {} s\n",
                        rules_.patience.count())
         << std::flush;
  }
  while (Steady::now() - *lost_since_ < rules_.patience) {
    co_await pause();
    if (co_await answers(node_)) co_return Status{};
  }
  co_return Error{Errc::unavailable,
                  fmt::format("the node has been away for {} s; the process goes on without it",
                              rules_.patience.count())};
}

async::Task<Followed> OutputFollower::follow() {
  if (has_reached_until()) co_return Followed{};
  for (;;) {
    NodeAnswer refusal;
    const LineTaker taker{.begin = [this] { begin(); },
                          .take = [this](std::string line) { return take(std::move(line)); }};
    const auto asked = co_await ask_lines(node_, output_path(), taker, refusal);
    if (process_) {
      CO_TRY_DO(co_await sink_.finish());
      co_return Followed{.process = std::move(process_)};
    }
    if (!asked && (sink_has_gone_ || is_nonsense_)) co_return asked.error();
    if (asked && refusal.status == 0 && has_reached_until()) {
      if (rules_.acknowledges) CO_TRY_DO(co_await acknowledge());
      CO_TRY_DO(co_await sink_.finish());
      co_return Followed{};
    }
    if (asked && refusal.status != 0 && refusal.status != kUnavailable) {
      co_return Followed{.refusal = std::move(refusal)};
    }
    CO_TRY_DO(co_await outlast());
  }
}

}  // namespace cordon::cli
