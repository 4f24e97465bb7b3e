// SPDX-License-Identifier: Apache-2.0
// API v1: from a request to what the node does, and back. No route is served without the right
// that its row names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/rest/call.h"
#include "api/rest/call_record.h"
#include "api/rest/collecting.h"
#include "api/rest/routes.h"
#include "async/task.h"
#include "audit/log.h"
#include "base/clock.h"
#include "gate/gate.h"
#include "http/exchange.h"
#include "http/server_limits.h"
#include "node/api_keys.h"
#include "node/archive_worker.h"
#include "node/audit_disk.h"
#include "node/audit_feed.h"
#include "node/census.h"
#include "node/events.h"
#include "node/fleet_policy.h"
#include "node/quotas.h"
#include "node/residents.h"
#include "node/revocations.h"
#include "node/sealing.h"

namespace cordon::api {

// Used from the loop's thread only.
class Rest {
 public:
  // All outlive it.
  struct Parts {
    node::Residents& residents;
    node::Room& room;
    node::FleetPolicy& policy;
    node::Census& census;
    journal::Journal& journal;
    node::Brokers& brokers;
    const node::Settings& settings;
    const gate::Gate& gate;
    node::Revocations& revocations;
    node::ApiKeys& keys;
    const Clock& clock;
    node::Archives& archives;
    node::Events& events;
    node::Quotas& quotas;
    audit::Log& log;
    node::AuditDisk& disk;
    const node::Sealing& sealing;
    node::AuditFeed& feed;
    // What opens the services and the ports of one to clients of E2B.
    std::function<node::Residents::Doors(const node::Resident&)> doors;
    // What runs from the start on in one that runs something for clients of E2B.
    std::function<frame::Start()> standby;
    // As clients of E2B see it in a list; empty: they do not.
    std::function<std::string(const node::Resident&)> e2b_row;
    std::function<http::ServerCounts()> server;
    std::function<std::string()> new_request_id;
  };
  Rest(const asio::any_io_executor& executor, Parts parts)
      : parts_{std::move(parts)}, record_{executor, parts_.log, parts_.clock} {}

  async::Task<void> handle(http::Exchange& exchange);

  // node.cc
  async::Task<void> health(Call& call);
  async::Task<void> node(Call& call);
  async::Task<void> drain_node(Call& call);
  async::Task<void> resume_node(Call& call);
  async::Task<void> put_policy(Call& call);
  async::Task<void> drop_policy(Call& call);
  async::Task<void> metrics(Call& call);
  // census.cc
  async::Task<void> stream_census(Call& call);
  // tokens.cc
  async::Task<void> revoke_token(Call& call);
  // keys.cc
  async::Task<void> create_key(Call& call);
  async::Task<void> list_keys(Call& call);
  async::Task<void> delete_key(Call& call);
  // secrets.cc
  async::Task<void> put_secret(Call& call);
  async::Task<void> list_secrets(Call& call);
  async::Task<void> delete_secret(Call& call);
  // run.cc
  async::Task<void> run(Call& call);
  // sandboxes.cc
  async::Task<void> create_sandbox(Call& call);
  async::Task<void> list_sandboxes(Call& call);
  async::Task<void> get_sandbox(Call& call);
  async::Task<void> change_sandbox(Call& call);
  async::Task<void> delete_sandbox(Call& call);
  // processes.cc
  async::Task<void> start_process(Call& call);
  async::Task<void> list_processes(Call& call);
  async::Task<void> get_process(Call& call);
  async::Task<void> wait_process(Call& call);
  async::Task<void> run_in_sandbox(Call& call);
  async::Task<void> write_input(Call& call);
  async::Task<void> signal_process(Call& call);
  // files.cc
  async::Task<void> read_file(Call& call);
  async::Task<void> write_file(Call& call);
  async::Task<void> remove_file(Call& call);
  async::Task<void> list_files(Call& call);
  async::Task<void> stat_file(Call& call);
  async::Task<void> make_directory(Call& call);
  async::Task<void> move_file(Call& call);
  // attach.cc
  async::Task<void> attach_process(Call& call);
  // ports.cc
  async::Task<void> proxy_port(Call& call);
  // trees.cc
  async::Task<void> write_tree(Call& call);
  async::Task<void> read_tree(Call& call);
  // moves.cc
  async::Task<void> leave_sandbox(Call& call);
  async::Task<void> check_leaving(Call& call);
  async::Task<void> read_leaving(Call& call);
  async::Task<void> end_leaving(Call& call);
  async::Task<void> stay_sandbox(Call& call);
  async::Task<void> take_arrival(Call& call);
  async::Task<void> write_arriving(Call& call);
  async::Task<void> check_arrival(Call& call);
  async::Task<void> ready_arrival(Call& call);
  async::Task<void> settle_arrival(Call& call);
  async::Task<void> turn_back_arrival(Call& call);
  // watches.cc
  async::Task<void> watch_files(Call& call);
  // audit.cc
  async::Task<void> stream_audit(Call& call);
  // events.cc
  async::Task<void> stream_events(Call& call);
  async::Task<void> stream_sandbox_events(Call& call);
  // output.cc
  async::Task<void> stream_output(Call& call);
  async::Task<void> acknowledge_output(Call& call);

 private:
  async::Task<void> serve(Call& call, const Route& route);
  // Until it is done, or the token is revoked or expires, or the key is deleted: then what was
  // begun breaks off.
  async::Task<void> serve_while_valid(Call& call, const Route& route);
  asio::awaitable<void> until_invalid(const Call& call);
  asio::awaitable<void> until_expired(const Call& call);
  bool is_expired(const Call& call) const;
  bool is_invalid(const Call& call) const;
  Result<std::string> tenant_of(const http::RequestHead& head,
                                const token::Authority& authority) const;

  async::Task<void> take_tree(Call& call, std::shared_ptr<node::Resident> resident);
  async::Task<void> give_tree(Call& call, std::shared_ptr<node::Resident> resident);
  async::Task<void> attach(Call& call, bool takes_input);
  async::Task<void> answer_node(Call& call);
  async::Task<void> set_draining(Call& call, bool is_draining);
  // Of the sandbox that the call names, where it has ended and is the tenant's.
  async::Task<std::optional<node::EndedSandbox>> ended_sandbox(const Call& call) const;
  // `not_found`: it is not there, or of another tenant.
  Result<std::shared_ptr<node::Resident>> living(const Call& call) const;
  Result<std::shared_ptr<node::ResidentProcess>> process(const node::Resident& resident,
                                                         const Call& call) const;

  Parts parts_;
  CallRecord record_;
  CollectingRoom collecting_;
  std::uint64_t requests_ = 0;
};

}  // namespace cordon::api
