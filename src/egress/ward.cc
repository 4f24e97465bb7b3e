// SPDX-License-Identifier: Apache-2.0
#include "egress/ward.h"

#include <algorithm>
#include <array>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/borrowed_fd.h"
#include "async/waiting.h"
#include "egress/connection.h"
#include "egress/net_policy.h"
#include "egress/refusals.h"
#include "egress/ward_authority.h"
#include "os/accept.h"
#include "os/datagram.h"

namespace cordon::egress {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kTell{2};
constexpr std::chrono::milliseconds kSoon{2};  // ends of connections are told together
// What is counted is told so late: a node that counts too reacts within a second.
constexpr std::chrono::milliseconds kLater{300};
constexpr std::chrono::milliseconds kNoRoom{20};
// Of one turn of the loop: one sandbox that asks without end does not keep the others from theirs.
constexpr int kDatagramsATurn = 32;

policy::Limits limits_of(const frame::NetBudgets& budgets) {
  policy::Limits limits;
  limits.egress = budgets.bytes;
  limits.requests_per_minute = budgets.requests_per_minute;
  limits.connections = budgets.connections;
  limits.bandwidth = budgets.bandwidth;
  return limits;
}

}  // namespace

Ward::Terms::Terms(policy::Policy checked, const frame::NetBudgets& limits,
                   std::span<std::byte> spent, WardNames& names, Reports& reports)
    : policy{std::move(checked)},
      budget{limits_of(limits), std::chrono::steady_clock::now(), spent},
      dns{policy, names, budget, reports} {}

Ward::Ward(const Commons& commons, std::string id, StateSlot slot, Reports::Send send)
    : commons_{commons},
      id_{std::move(id)},
      slot_{slot},
      reports_{id_, std::move(send), [this] { soon_.want(); }, [this] { later_.want(); }},
      soon_{commons.executor, kSoon, [this] { reports_.tell_uses(); }},
      later_{commons.executor, kLater, [this] { reports_.flush(); }},
      sent_{commons.executor, kLater, [this] { reports_.sent(budget().sent()); }},
      scope_{commons.executor} {}

Status Ward::hold(os::Fd tcp_socket, os::Fd udp_socket) {
  if (tcp_) return Error{Errc::exists, "its sockets are held already"};
  TRY_DO(os::set_no_delay(tcp_socket));  // and so it is of each connection that it accepts
  boost::system::error_code error;
  tcp_.emplace(commons_.executor);
  tcp_->assign(tcp::v4(), tcp_socket.get(), error);
  if (error) return Error::from_errno("listener", error.value());
  static_cast<void>(tcp_socket.release());
  udp_.emplace(commons_.executor, udp_socket.release());
  begin();
  return {};
}

Status Ward::serve(const frame::Serve& serve) {
  auto policy = policy_of(serve);
  const Status served = !policy  ? Status{policy.error()}
                        : terms_ ? change(*std::move(policy), serve)
                                 : begin_with(*std::move(policy), serve);
  if (!served) shut();
  return served;
}

// The first one. Nothing is open yet.
Status Ward::begin_with(policy::Policy policy, const frame::Serve& serve) {
  TRY(WardNames names, WardNames::open(slot_.names));
  names_.emplace(std::move(names));
  TRY_DO(names_->pin(policy));
  TRY(auto authority, open_authority(slot_.authority, policy, commons_.clock.wall()));
  if (authority) authority_.emplace(*std::move(authority));
  take_flags(serve);
  terms_.emplace(std::move(policy), serve.budgets, slot_.spent, *names_, reports_);
  terms_->budget.when_sent([this] { sent_.want(); });
  begin();
  return {};
}

// The policy first, and what is open is held against it in the same turn. The authority stays as it
// is: the bundle inside has its certificate, with its names, and no other.
// NOLINTBEGIN(bugprone-unchecked-optional-access): set by begin_with(), before there is a change
Status Ward::change(policy::Policy policy, const frame::Serve& serve) {
  terms_->policy = std::move(policy);
  take_flags(serve);
  terms_->budget.change(limits_of(serve.budgets), std::chrono::steady_clock::now());
  judge_again();
  end_newest();
  return names_->pin(terms_->policy);
}
// NOLINTEND(bugprone-unchecked-optional-access)

void Ward::take_flags(const frame::Serve& serve) {
  limits_ = serve.budgets;
  scans_ = serve.secret_scanning;
  has_grants_ = std::ranges::any_of(
      serve.documents, [](const frame::NetDocument& document) { return !document.grants.empty(); });
}

void Ward::judge_again() {
  for (LiveConnection& connection : live_) {
    if (connection.ended) continue;
    if (still_allows(policy(), connection)) {
      // Of a connection that stays only this may have changed.
      connection.passage =
          policy().passage(connection.host, connection.port).value_or(connection.passage);
      continue;
    }
    const policy::NetQuery query{.host = connection.host, .port = connection.port};
    reports_.refused(policy().decide(query).allowed()
                         ? refused_connection(kHostRefused, connection.host, connection.port,
                                              "it was opened under a wider policy than this one")
                         : refused_by_policy(policy(), query));
    connection.finish();
  }
}

// Those that a narrower number of connections has no room for.
void Ward::end_newest() {
  std::uint64_t over = budget().over_connections();
  for (LiveConnection& connection : live_) over -= std::min<std::uint64_t>(over, connection.ended);
  for (auto at = live_.rbegin(); at != live_.rend() && over > 0; ++at) {
    if (at->ended) continue;
    at->finish();
    --over;
  }
}

void Ward::shut() {
  if (!terms_) return;
  terms_->policy = no_network();
  judge_again();
}

Result<std::string> Ward::certificate() const {
  if (!authority_) return std::string{};
  return authority_->certificate_pem();
}

void Ward::revoke(const std::string& grant) {
  for (LiveConnection& connection : live_) {
    const bool carries =
        grant.empty() ? !connection.grants.empty() : connection.grants.contains(grant);
    if (!carries || connection.ended) continue;
    reports_.refused(refused_connection(kCredentialRefused, connection.host, connection.port,
                                        "the credential that it has carried is given no more"));
    connection.finish();
  }
}

void Ward::begin() {
  if (serving_ || !tcp_ || !terms_) return;
  serving_ = true;
  scope_.spawn(accept_all());
  scope_.spawn(answer_names());
  scope_.spawn(tell_regularly());
}

// NOLINTBEGIN(bugprone-unchecked-optional-access): both sockets are there, see begin()
asio::awaitable<void> Ward::accept_all() {
  for (;;) {
    auto [error, client] = co_await tcp_->async_accept(async::kQuiet);
    if (error == asio::error::operation_aborted || !tcp_->is_open()) co_return;
    if (error) {
      // Out of descriptors, say: those that wait get theirs when others have ended.
      asio::steady_timer pause{commons_.executor, kNoRoom};
      co_await pause.async_wait(async::kQuiet);
      continue;
    }
    scope_.spawn(serve_connection(*this, std::move(client)));
  }
}

asio::awaitable<void> Ward::answer_names() {
  std::array<std::byte, kLongestDnsQuery + 1> buffer{};
  for (;;) {
    const auto [error] =
        co_await udp_->async_wait(asio::posix::descriptor_base::wait_read, async::kQuiet);
    if (error) co_return;
    const async::BorrowedFd socket{*udp_};
    for (int i = 0; i < kDatagramsATurn; ++i) {
      const auto got = os::receive_datagram(*socket, buffer);
      if (!got || !*got) break;
      const auto answer = dns().answer(std::span{buffer}.first((*got)->bytes), DnsTransport::udp,
                                       std::chrono::steady_clock::now());
      if (answer) static_cast<void>(os::answer_datagram(*socket, **got, *answer));
    }
  }
}
// NOLINTEND(bugprone-unchecked-optional-access)

asio::awaitable<void> Ward::tell_regularly() {
  asio::steady_timer timer{commons_.executor};
  for (;;) {
    timer.expires_after(kTell);
    if (const auto [error] = co_await timer.async_wait(async::kQuiet); error) co_return;
    reports_.flush();
  }
}

asio::awaitable<void> Ward::close() {
  boost::system::error_code ignored;
  if (tcp_) tcp_->close(ignored);
  if (udp_) udp_->close(ignored);
  for (LiveConnection& connection : live_) connection.finish();
  scope_.cancel();
  co_await scope_.join();
  reports_.flush();
}

}  // namespace cordon::egress
