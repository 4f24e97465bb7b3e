// SPDX-License-Identifier: Apache-2.0
// One sandbox as its egress sees it: two sockets, what it may reach, and what it has open.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/scope.h"
#include "async/soon.h"
#include "base/clock.h"
#include "egress/broker_link.h"
#include "egress/budget.h"
#include "egress/certificate_authority.h"
#include "egress/dialler.h"
#include "egress/live_connection.h"
#include "egress/name_server.h"
#include "egress/refusals.h"
#include "egress/reports.h"
#include "egress/state_file.h"
#include "egress/tls.h"
#include "egress/trust_store.h"
#include "frame/egress.h"
#include "os/conduit.h"
#include "os/fd.h"
#include "policy/policy.h"

namespace cordon::egress {

// What all sandboxes of the process share. All of it outlives them.
struct Commons {
  asio::any_io_executor executor;
  Dialler& dialler;
  const Clock& clock;
  const TrustStore& trusted;
  const TlsServer& tls_server;
  const TlsClient& tls_client;
  os::Conduit* conduit = nullptr;        // for bytes that are passed on as they are; null: copied
  std::shared_ptr<BrokerLink> broker{};  // the newest; none until the node has brought one
};

class Ward {
 public:
  // All that it refers to outlives it. Before it goes, close() has returned.
  Ward(const Commons& commons, std::string id, StateSlot slot, Reports::Send send);
  Ward(const Ward&) = delete;
  Ward& operator=(const Ward&) = delete;

  // The sandbox's sockets. They are served once there is a policy.
  Status hold(os::Fd tcp, os::Fd udp);
  // What it may reach from now on: set, and held against everything that is open, before this
  // returns. After a failure it reaches nothing until it is served again.
  Status serve(const frame::Serve& serve);
  // It reaches nothing until it is served again.
  void shut();
  // PEM, for the bundle inside; empty where no TLS is terminated. Before: something is served.
  Result<std::string> certificate() const;
  // Ends what carries a credential of this grant; empty: of any.
  void revoke(const std::string& grant);
  // Serves nothing any more; returns when nothing of it runs and its sockets are closed.
  asio::awaitable<void> close();

  // --- for its connections

  const std::string& id() const noexcept { return id_; }
  // Before: something is served.
  // NOLINTBEGIN(bugprone-unchecked-optional-access): set by serve(), before any connection is
  const policy::Policy& policy() const { return terms_->policy; }
  EgressBudget& budget() { return terms_->budget; }
  NameServer& dns() { return terms_->dns; }
  const NameTable& names() const { return names_->table(); }
  // NOLINTEND(bugprone-unchecked-optional-access)
  Dialler& dialler() noexcept { return commons_.dialler; }
  const Commons& commons() const noexcept { return commons_; }
  std::shared_ptr<BrokerLink> broker() const noexcept { return commons_.broker; }
  CertificateAuthority* authority() noexcept { return authority_ ? &*authority_ : nullptr; }
  bool has_grants() const noexcept { return has_grants_; }
  bool scans() const noexcept { return scans_; }
  Reports& reports() noexcept { return reports_; }
  // That a refusal by the budget names.
  std::string rule_of(BudgetKind kind) const { return egress::rule_of(kind, limits_); }
  std::list<LiveConnection>& live() noexcept { return live_; }

 private:
  // What follows from the policy that holds.
  struct Terms {
    Terms(policy::Policy checked, const frame::NetBudgets& limits, std::span<std::byte> spent,
          WardNames& names, Reports& reports);
    policy::Policy policy;
    EgressBudget budget;
    NameServer dns;
  };
  Status change(policy::Policy policy, const frame::Serve& serve);
  Status begin_with(policy::Policy policy, const frame::Serve& serve);
  void take_flags(const frame::Serve& serve);
  void judge_again();
  void end_newest();
  void begin();
  asio::awaitable<void> accept_all();
  asio::awaitable<void> answer_names();
  asio::awaitable<void> tell_regularly();

  const Commons& commons_;
  std::string id_;
  StateSlot slot_;
  Reports reports_;
  async::Soon soon_;
  async::Soon later_;
  async::Soon sent_;
  std::optional<WardNames> names_;
  std::optional<asio::ip::tcp::acceptor> tcp_;
  std::optional<asio::posix::stream_descriptor> udp_;
  std::optional<Terms> terms_;
  std::optional<CertificateAuthority> authority_;
  frame::NetBudgets limits_;
  bool has_grants_ = false;
  bool scans_ = false;
  bool serving_ = false;
  std::list<LiveConnection> live_;
  async::Scope scope_;
};

}  // namespace cordon::egress
