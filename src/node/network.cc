// SPDX-License-Identifier: Apache-2.0
#include "node/network.h"

#include <iterator>
#include <span>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/deadline.h"
#include "async/waiting.h"
#include "node/replacement.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

constexpr std::chrono::seconds kEgressAnswer{5};
// Between two looks whether a policy is confirmed, or can be sent to one whose socket is full.
constexpr std::chrono::milliseconds kLook{1};
// At the end of a run: an egress that does not stop talking is not listened to for ever.
constexpr int kMostAtEnd = 10'000;
// A busy egress is heard so often, and what it has said until then is written down at once.
constexpr std::chrono::milliseconds kGather{3};
constexpr int kMostAtOnce = 256;

// Leaves the descriptor to its owner.
class Unwatch {
 public:
  explicit Unwatch(asio::posix::stream_descriptor& watched) : watched_{watched} {}
  Unwatch(const Unwatch&) = delete;
  Unwatch& operator=(const Unwatch&) = delete;
  ~Unwatch() { static_cast<void>(watched_.release()); }

 private:
  asio::posix::stream_descriptor& watched_;
};

}  // namespace

Result<frame::EgressToNode> Network::read_one() {
  buffer_.resize(frame::kLongestEgressMessage);
  auto got = os::receive_now(link_, buffer_);
  // One that ended before it had read everything leaves its last words behind this error.
  if (!got && got.error().cause() == std::errc::connection_reset)
    got = os::receive_now(link_, buffer_);
  if (!got) return got.error();
  if (got->bytes == 0) return Error{Errc::unavailable, "cordon-egress has ended"};
  return frame::decode_egress_to_node(std::span{buffer_}.first(got->bytes));
}

// It is watched only as long as this waits: else each word of a busy egress would wake the loop.
async::Task<frame::EgressToNode> Network::receive() {
  for (;;) {
    auto message = read_one();
    if (message || !os::would_wait(message.error())) co_return message;
    asio::posix::stream_descriptor watched{executor_, link_.get()};
    const Unwatch unwatch{watched};
    const auto [error] =
        co_await watched.async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) co_return Error::from_errno("egress link", error.value());
  }
}

void Network::hear(frame::EgressToNode message) {
  const auto take = [&](std::uint64_t generation, Result<frame::Serving> answer) {
    // One that was sent before others were is of no interest any more.
    if (generation <= answered_generation_ || generation > generation_) return;
    answered_generation_ = generation;
    answer_ = std::move(answer);
  };
  if (auto* used = std::get_if<frame::NetUses>(&message)) {
    uses_.insert(uses_.end(), std::move_iterator{used->uses.begin()},
                 std::move_iterator{used->uses.end()});
  } else if (const auto* refused = std::get_if<frame::NetRefused>(&message)) {
    tell_uses();  // in their order
    ears_.refused(*refused);
  } else if (const auto* sent = std::get_if<frame::NetSent>(&message)) {
    if (ears_.sent) ears_.sent(sent->bytes);
  } else if (const auto* serving = std::get_if<frame::Serving>(&message)) {
    take(serving->generation, *serving);
  } else if (const auto* not_served = std::get_if<frame::NotServed>(&message)) {
    take(not_served->generation, Error{Errc::unavailable, "cordon-egress: " + not_served->text});
  }
}

void Network::tell_uses() {
  if (!uses_.empty()) ears_.used(uses_);
  uses_.clear();
}

bool Network::hear_waiting() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    auto message = read_one();
    if (!message) return os::would_wait(message.error());
    hear(*std::move(message));
  }
  return true;
}

Status Network::send_policy() {
  const auto sent = os::send(link_, frame::encode(frame::NodeToEgress{serve_}));
  return sent ? Status{} : Status{sent.error()};
}

// NOLINTBEGIN(bugprone-unchecked-optional-access): where something was answered
async::Task<frame::Serving> Network::start() {
  CO_TRY(link_, co_await open_());
  CO_TRY_DO(os::set_nonblocking(link_, true));
  const std::uint64_t generation = serve_.generation = ++generation_;
  CO_TRY_DO(send_policy());
  while (answered_generation_ < generation) {
    CO_TRY(frame::EgressToNode message, co_await async::within(kEgressAnswer, receive()));
    // One that could not even begin says so without a number.
    const auto* refused = std::get_if<frame::NotServed>(&message);
    if (refused != nullptr && refused->generation == 0) {
      co_return Error{Errc::unavailable, "cordon-egress: " + refused->text};
    }
    hear(std::move(message));
    tell_uses();
  }
  co_return *answer_;
}

async::Task<void> Network::change(frame::Serve serve) {
  const Ticks late = std::chrono::steady_clock::now() + kEgressAnswer;
  const std::uint64_t generation = serve.generation = ++generation_;
  // First of all: whatever happens next, an egress that is started is told this.
  serve_ = std::move(serve);
  asio::steady_timer pause{executor_};
  bool sent = false;
  while (answered_generation_ < generation) {
    // Not where a later one, or a new egress, has overtaken it.
    if (!sent && link_ && serve_.generation == generation) sent = send_policy().has_value();
    if (std::chrono::steady_clock::now() >= late) {
      co_return Error{Errc::timeout, "cordon-egress has not confirmed the policy"};
    }
    pause.expires_after(kLook);
    if (const auto [error] = co_await pause.async_wait(async::kQuiet); error) {
      co_return Error{Errc::unavailable, "given up"};
    }
  }
  if (!*answer_) co_return answer_->error();
  co_return Status{};
}
// NOLINTEND(bugprone-unchecked-optional-access)

// The answer, whatever it is, is heard by keep().
async::Task<void> Network::use_broker(os::Fd broker) {
  if (!link_) co_return Error{Errc::unavailable, "cordon-egress has ended"};
  const os::Fd* const beside = &broker;
  const auto sent =
      os::send(link_, frame::encode(frame::NodeToEgress{frame::UseBroker{}}), {&beside, 1});
  if (!sent) co_return sent.error();
  co_return Status{};
}

asio::awaitable<void> Network::keep() {
  auto pause = kFirstPause;
  for (;;) {
    const Ticks began = std::chrono::steady_clock::now();
    while (link_) {
      auto message = co_await receive();
      if (!message) break;
      hear(*std::move(message));
      const bool lives = hear_waiting();
      tell_uses();
      if (!lives) break;
      asio::steady_timer rest{executor_, kGather};
      if (const auto [error] = co_await rest.async_wait(async::kQuiet); error) co_return;
    }
    if (std::chrono::steady_clock::now() - began > kQuietLife) pause = kFirstPause;
    asio::steady_timer timer{executor_, pause};
    if (const auto [error] = co_await timer.async_wait(async::kQuiet); error) co_return;
    pause = std::min(pause * 2, kLongestPause);
    link_ = {};
    const auto started = co_await start();
    if (started && replaced_) static_cast<void>(co_await replaced_());
  }
}

void Network::drain() {
  for (int i = 0; link_ && i < kMostAtEnd; ++i) {
    auto message = read_one();
    if (!message) break;
    hear(*std::move(message));
  }
  tell_uses();
}

}  // namespace cordon::node
