// SPDX-License-Identifier: Apache-2.0
// Decides over the requests of one terminated connection: policy, budget, credentials, secrets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "egress/broker_link.h"
#include "egress/budget.h"
#include "egress/http_gate.h"
#include "egress/live_connection.h"
#include "egress/secret_scan.h"
#include "frame/egress.h"
#include "policy/policy.h"

namespace cordon::egress {

class Ward;

class Gate final : public HttpGate {
 public:
  // All outlive it.
  Gate(Ward& ward, LiveConnection& connection);
  // Ends both sides at once.
  void abort();

  Judged<HttpPermission> judge(const http::RequestHead& head) override;
  asio::awaitable<Judged<asio::ip::tcp::socket>> dial() override;
  asio::awaitable<Judged<http::Fields>> fields(const http::RequestHead& head) override;
  EgressBudget::Allowance move(Direction direction, std::uint64_t wanted) override;
  std::optional<HttpRefusal> scan_head(Direction direction, std::string_view head) override;
  std::unique_ptr<HttpScanner> body_scanner(Direction direction) override;
  void finished(const HttpUse& use) override;
  void serving(const std::function<void()>& abort) override { abort_ = abort; }

 private:
  // The grant that covers the request, if any.
  std::optional<std::string> grant_for(const http::RequestHead& head) const;
  HttpRefusal refuse(HttpRefusal refusal, frame::NetRefused told);
  // After a wait: the policy, or a grant, is not any more what the request was judged by.
  std::unexpected<HttpRefusal> ended();
  std::vector<const SentinelSet*> sets(Direction direction) const;
  SecretScan::Keys keys() const;

  Ward& ward_;
  LiveConnection& connection_;
  std::function<void()> abort_;
  asio::ip::tcp::socket dialled_;        // until the session has it
  std::string address_;                  // that was dialled
  std::string grant_;                    // of the request that is being served
  std::unique_ptr<SentinelSet> secret_;  // of that request, and gone with it
  bool told_ = false;                    // its refusal is in the reports
};

}  // namespace cordon::egress
