// SPDX-License-Identifier: Apache-2.0
// The node itself: whether it serves, what it is, what it has counted.
#include <limits>

#include "api/rest/metrics_text.h"
#include "api/rest/rest.h"
#include "gate/release.h"
#include "wire/json_writer.h"

namespace cordon::api {

async::Task<void> Rest::health(Call& call) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("status", call.exchange.is_draining() ? "draining" : "serving");
  json.text("version", CORDON_VERSION);
  json.end_object();
  const int status = call.exchange.is_draining() ? 503 : 200;
  co_return co_await answer_json(call, status, json.take());
}

async::Task<void> Rest::node(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  co_return co_await answer_node(call);
}

// What lives goes on. It holds over deaths of the node, until it is told to go on.
async::Task<void> Rest::set_draining(Call& call, bool is_draining) {
  CO_TRY_DO(only_known(call, {}));
  parts_.room.drain(is_draining);
  CO_TRY_DO(co_await parts_.journal.write(
      journal::Durability::power,
      [is_draining](journal::Ledger& ledger) { return ledger.set_draining(is_draining); }));
  co_return co_await answer_node(call);
}

async::Task<void> Rest::drain_node(Call& call) { return set_draining(call, true); }
async::Task<void> Rest::resume_node(Call& call) { return set_draining(call, false); }

// What lives keeps the policy that it was made with.
async::Task<void> Rest::put_policy(Call& call) {
  CO_TRY_DO(only_known(call, {"release"}));
  CO_TRY(const auto number, number_of(call, "release"));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!number || *number == 0 || *number > kMost) {
    co_return Error{Errc::invalid, "`release`: the number of this release, from 1 on"};
  }
  CO_TRY(std::string text, co_await call.exchange.read_body(gate::kLargestRelease));
  CO_TRY_DO(co_await parts_.policy.take(*number, std::move(text)));
  co_return co_await answer_node(call);
}

async::Task<void> Rest::drop_policy(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  CO_TRY_DO(co_await parts_.policy.drop());
  co_return co_await answer_node(call);
}

namespace {

void write_policy(wire::JsonWriter& json, const node::FleetPolicy& policy) {
  const node::FleetPolicy::State& state = policy.state();
  const node::ReleaseCounts counts = policy.counts();
  json.key("policy");
  json.begin_object();
  json.number("release", state.number);
  if (state.number != 0) {
    json.text("sha256", state.sha256);
    json.number("admitted", counts.admitted);
    json.number("turned_away", counts.turned_away);
  }
  if (state.refused) {
    json.key("refused");
    json.begin_object();
    json.number("release", state.refused->number);
    json.text("why", state.refused->why);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

async::Task<void> Rest::answer_node(Call& call) {
  const node::Room::Gauge gauge = node::gauge_of(parts_.room, parts_.census);
  wire::JsonWriter json;
  json.begin_object();
  json.text("name", parts_.settings.name);
  json.text("version", CORDON_VERSION);
  json.number("sandboxes", std::uint64_t{parts_.residents.size()});
  json.boolean("draining", gauge.is_draining);
  json.number("start", std::uint64_t{gauge.start});
  if (const auto& fleet = parts_.settings.fleet) {
    json.number("cell", std::uint64_t{fleet->cell});
    json.number("node", std::uint64_t{fleet->node});
    json.number("seq", gauge.seq);
    json.number("slots", gauge.slots);
    json.number("free", gauge.free);
  }
  json.key("images");
  json.begin_array();
  for (const auto& [name, directory] : parts_.settings.images) json.text(name);
  json.end_array();
  json.text("default_image", parts_.settings.default_image);
  write_policy(json, parts_.policy);
  json.end_object();
  co_return co_await answer_json(call, 200, json.take());
}

async::Task<void> Rest::metrics(Call& call) {
  CO_TRY_DO(only_known(call, {}));
  const http::ServerCounts server = parts_.server();
  MetricsText text;
  const node::NodeCounts& counts = parts_.residents.counts();
  text.gauge("cordon_sandboxes", "Sandboxes that live now.", parts_.residents.size());
  text.counter("cordon_sandboxes_created_total", "Sandboxes that were made.", counts.created);
  text.counter("cordon_sandboxes_ended_total", "Sandboxes that have ended.", counts.ended);
  text.counter("cordon_runs_total", "Runs of one command.", counts.runs);
  text.counter("cordon_creates_refused_total", "Creates and runs that were not admitted.",
               counts.refused);
  text.counter("cordon_creates_failed_total", "Creates and runs that failed here.", counts.failed);
  text.counter("cordon_requests_total", "Requests to API v1.", requests_);
  text.gauge("cordon_http_connections", "Connections that are open now.", server.connections);
  text.counter("cordon_http_accepted_total", "Connections that were accepted.", server.accepted);
  text.counter("cordon_http_turned_away_total", "Connections beyond what is held.",
               server.turned_away + server.over_address);
  text.counter("cordon_http_refused_total", "Heads and bodies that were refused.",
               server.refused_heads + server.late_heads + server.refused_bodies);
  text.counter("cordon_http_failed_total", "Requests that no handler answered.",
               server.failed_handlers);
  text.gauge("cordon_audit_records", "Records of the audit log.", parts_.log.size());
  text.gauge("cordon_audit_signed", "Records that a signed head holds.", parts_.sealing.sealed());
  co_return co_await call.exchange.answer(
      200, stream_fields(call, "text/plain; version=0.0.4; charset=utf-8"), text.take());
}

}  // namespace cordon::api
