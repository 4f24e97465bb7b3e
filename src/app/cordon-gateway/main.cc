// SPDX-License-Identifier: Apache-2.0
// cordon-gateway: the API of many nodes as one. It keeps nothing of a sandbox: where each one lives
// is in its name.
//
// cordon-gateway [--config FILE] [--check]
#include <csignal>
#include <cstdio>
#include <random>
#include <ranges>
#include <string_view>
#include <unistd.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "app/fleet_program/confine.h"
#include "app/fleet_program/kept_text.h"
#include "app/fleet_program/opened.h"
#include "async/block_on.h"
#include "async/scope.h"
#include "async/spdlog_sink.h"
#include "base/log.h"
#include "etcd/client.h"
#include "fleet/gateway.h"
#include "fleet/gateway_settings.h"
#include "fleet/moved.h"
#include "fleet/mover.h"
#include "fleet/policy_desk.h"
#include "http/server.h"
#include "os/file_lock.h"
#include "os/own_directory.h"

namespace {

using namespace cordon;
using fleet_program::Cluster;
using fleet_program::cluster_of;
using fleet_program::identity_of;
using fleet_program::kept_text;
using fleet_program::root_key_from;
using fleet_program::setup_of;
using fleet_program::towards_nodes;
using fleet_program::until_signal;
using namespace asio::experimental::awaitable_operators;

constexpr const char* kConfig = "/etc/cordon/gateway.toml";
constexpr std::chrono::seconds kDrain{30};
constexpr std::chrono::seconds kTurn{1};
constexpr int kTurnsBetweenSaves = 10;
constexpr int kTurnsBetweenSweeps = 600;
constexpr const char* kMap = "map";
constexpr const char* kRevocations = "revocations";
constexpr const char* kMovedFile = "moved";
constexpr const char* kQuotas = "quotas";  // who has one
constexpr const char* kUntold = "untold";  // of them, to etcd
// The audience of the tokens that clients show to a fleet.
constexpr std::string_view kAudience = "fleet";

// All that was opened and read before the process gave up the right to.
struct Opened {
  const fleet::GatewaySettings& settings;
  token::RootKey root;
  std::optional<etcd::Identity> identity;
  std::optional<http::ClientTls> nodes_tls;
  http::ServerSetup setup;
  os::Fd state;
};

// A cell that cannot be followed any more leaves the others as they are.
asio::awaitable<void> follow_cell(fleet::Nodes& nodes, etcd::Client& client, std::uint16_t cell) {
  const Status ended = co_await nodes.follow_cell(client, cell);
  log(LogLevel::error, "gateway", "a cell is not followed any more",
      {{"cell", static_cast<std::int64_t>(cell)},
       {"why", ended ? std::string{"it ended"} : ended.error().text()}});
}

// Without it lists are asked of the nodes.
asio::awaitable<void> follow_index(fleet::Indexes& indexes, etcd::Client& client,
                                   std::uint16_t cell) {
  const Status ended = co_await indexes.follow(client, cell);
  log(LogLevel::error, "gateway", "the index of a cell is not followed any more",
      {{"cell", static_cast<std::int64_t>(cell)},
       {"why", ended ? std::string{"it ended"} : ended.error().text()}});
}

// Without it sandboxes that were moved are asked for at home, which says where they went.
asio::awaitable<void> follow_moved(etcd::Client& client, fleet::Moved& moved, fleet::Mover& mover) {
  const Status ended = co_await fleet::follow_moved(
      client, moved, [&mover](const std::string& sandbox, bool was_before) {
        if (was_before) {
          mover.look_again(sandbox);
        } else {
          mover.finish_later(sandbox);
        }
      });
  log(LogLevel::error, "gateway", "where sandboxes are moved to is not followed any more",
      {{"why", ended ? std::string{"it ended"} : ended.error().text()}});
}

asio::awaitable<void> keep_revoked(fleet::Revoked& revoked, fleet::Spread& spread,
                                   const fleet::Purses& purses, const fleet::Moved& moved,
                                   const os::Fd& state, const Clock& clock) {
  asio::steady_timer pause{co_await asio::this_coro::executor};
  std::map<std::string, std::string> saved;
  const auto keep = [&](const char* name, std::string text) {
    const auto before = saved.find(name);
    if (before != saved.end() && before->second == text) return;
    if (const Status kept = fleet_program::keep_text(state, name, text); !kept) {
      log(LogLevel::error, "gateway", "something was not kept for the next start",
          {{"what", std::string{name}}, {"why", kept.error().text()}});
      return;
    }
    saved[name] = std::move(text);
  };
  for (int turn = 0;; ++turn) {
    keep(kUntold, fleet::lines_of(spread.waiting()));
    if (turn % kTurnsBetweenSaves == 0 || !spread.waiting().empty()) {
      keep(kRevocations, revoked.saved());
      keep(kQuotas, purses.saved());
      keep(kMovedFile, moved.saved());
    }
    if (turn % kTurnsBetweenSweeps == 0) {
      // An hour later: clocks differ.
      const auto now = std::chrono::floor<std::chrono::seconds>(clock.wall());
      for (const token::RevocationId& id : revoked.forget_useless(now - std::chrono::hours{1})) {
        co_await spread.forget(id);
      }
    }
    pause.expires_after(kTurn);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

struct Parts {
  Opened& opened;
  const Clock& clock;
  Cluster& global;
  std::map<std::uint16_t, Cluster>& cells;
  fleet::Nodes& nodes;
  fleet::Indexes& indexes;
  fleet::Purses& purses;
  fleet::Revoked& revoked;
  fleet::Spread& spread;
  fleet::Moved& moved;
  fleet::Mover& mover;
  fleet::LinkHouse& house;
  http::Server& server;
};

// What was kept is not written over before all of it is known.
asio::awaitable<void> serve_when_known(Parts& parts) {
  co_await parts.revoked.until_known();
  co_await parts.purses.until_known();
  co_await (parts.server.run() || keep_revoked(parts.revoked, parts.spread, parts.purses,
                                               parts.moved, parts.opened.state, parts.clock));
}

async::Task<void> begin_and_serve(async::Scope& scope, Parts& parts) {
  scope.spawn(parts.house.watchdog.run());
  for (const auto& [cell, cluster] : parts.cells) {
    scope.spawn(follow_cell(parts.nodes, *cluster.client, cell));
    scope.spawn(follow_index(parts.indexes, *cluster.client, cell));
  }
  scope.spawn(parts.nodes.keep(scope));
  scope.spawn(parts.spread.keep());
  parts.mover.live_in(scope);
  scope.spawn(follow_moved(*parts.global.client, parts.moved, parts.mover));
  scope.spawn(parts.mover.keep());
  scope.spawn(parts.purses.keep());
  scope.spawn(serve_when_known(parts));
  log(LogLevel::info, "gateway", "serving",
      {{"socket", parts.opened.settings.listen.unix_socket},
       {"cells", static_cast<std::int64_t>(parts.cells.size())},
       {"nodes", static_cast<std::int64_t>(parts.nodes.roster().all().size())}});
  // Who does not hear what is taken back, or who has a quota, lets nobody in any more.
  auto first =
      co_await (until_signal() || fleet::follow_revocations(*parts.global.client, parts.revoked) ||
                parts.purses.follow(*parts.global.client));
  co_await parts.server.drain(kDrain);
  if (first.index() == 1) {
    co_return std::move(std::get<1>(first)).error().with("revocations are not followed any more");
  }
  if (first.index() == 2) {
    co_return std::move(std::get<2>(first)).error().with("quotas are not followed any more");
  }
  co_return Status{};
}

async::Task<void> serve(Opened& opened) {
  const auto executor = co_await asio::this_coro::executor;
  const SystemClock clock;
  CO_TRY(token::AudienceKey key, opened.root.derive(kAudience));
  CO_TRY(Cluster global, cluster_of(executor, opened.identity, opened.settings.etcd));
  std::map<std::uint16_t, Cluster> cells;
  for (const auto& [cell, members] : opened.settings.cells) {
    CO_TRY(Cluster cluster, cluster_of(executor, opened.identity, members));
    cells.emplace(cell, std::move(cluster));
  }
  fleet::Reissue reissue{std::move(opened.root)};
  fleet::LinkHouse house{executor};
  if (opened.nodes_tls) house.tls.emplace(*std::move(opened.nodes_tls));
  fleet::Revoked revoked{executor};
  CO_TRY(const auto taken_back, kept_text(opened.state, kRevocations));
  if (taken_back) {
    revoked.restore(*taken_back);
    revoked.know();
  }
  fleet::Nodes nodes{house,
                     reissue,
                     clock,
                     {},
                     [random = std::mt19937_64{std::random_device{}()}](std::size_t end) mutable {
                       return std::uniform_int_distribution<std::size_t>{0, end - 1}(random);
                     },
                     [&opened](const std::string& map) {
                       const Status kept = fleet_program::keep_text(opened.state, kMap, map);
                       if (kept) return;
                       log(LogLevel::error, "gateway", "the map was not kept for the next start",
                           {{"why", kept.error().text()}});
                     }};
  CO_TRY(const auto map, kept_text(opened.state, kMap));
  if (map) nodes.restore(*map);
  fleet::Indexes indexes{house, reissue, clock};
  fleet::Purses purses{executor, indexes, clock};
  CO_TRY(const auto quotas, kept_text(opened.state, kQuotas));
  if (quotas) purses.restore(*quotas);
  fleet::Spread spread{executor, *global.client, revoked, nodes, clock};
  fleet::Moved moved;
  CO_TRY(const auto moved_before, kept_text(opened.state, kMovedFile));
  if (moved_before) moved.restore(*moved_before);
  fleet::Mover mover{{.all = *global.client,
                      .nodes = nodes,
                      .purses = purses,
                      .reissue = reissue,
                      .moved = moved,
                      .clock = clock}};
  std::vector<token::AudienceKey> keys;
  keys.push_back(std::move(key));
  CO_TRY(const auto untold, kept_text(opened.state, kUntold));
  if (untold) spread.restore(fleet::revocations_in(*untold));
  const gate::Gate gate{std::move(keys),
                        {0, ::geteuid()},
                        [&](const token::RevocationId& id) { return revoked.has(id); },
                        [](std::string_view) -> std::optional<gate::Bearer> { return {}; },
                        clock,
                        gate::Chains::ignored};
  const auto numbers = std::views::keys(cells);
  fleet::PolicyDesk policy{*global.client, nodes, clock, {numbers.begin(), numbers.end()}};
  std::unique_ptr<http::Server> server;
  fleet::Gateway gateway{executor,
                         {.nodes = nodes,
                          .indexes = indexes,
                          .purses = purses,
                          .all = *global.client,
                          .reissue = reissue,
                          .revoked = revoked,
                          .moved = moved,
                          .mover = mover,
                          .spread = spread,
                          .policy = policy,
                          .gate = gate,
                          .origins = opened.settings.listen.origins,
                          .clock = clock,
                          .server = [&] { return server->counts(); }}};
  opened.setup.handler = [&](http::Exchange& exchange) { return gateway.handle(exchange); };
  CO_TRY(server, http::Server::create(executor, std::move(opened.setup)));
  Parts parts{opened,  clock,  global, cells, nodes, indexes, purses,
              revoked, spread, moved,  mover, house, *server};
  co_return co_await async::in_scope(
      [](async::Scope& scope, Parts* all) -> async::Task<void> {
        auto served = co_await begin_and_serve(scope, *all);
        scope.cancel();
        co_return served;
      },
      &parts);
}

Status run(const fleet::GatewaySettings& settings) {
  TRY(token::RootKey root, root_key_from(settings.root_key));
  TRY(os::Fd state, os::open_own_directory(settings.state));
  if (const Status alone = os::try_flock(state, os::Lock::exclusive); !alone) {
    return Error{Errc::exists,
                 settings.state + ": another cordon-gateway has this state directory"};
  }
  TRY(auto identity, identity_of(settings.etcd_identity));
  TRY(auto tls, towards_nodes(settings.nodes));
  TRY(http::ServerSetup setup, setup_of(settings.listen));
  // Before the first thread: gRPC makes some.
  if (Status confined = fleet_program::confine(settings.state); !confined) {
    return std::move(confined).error().with("give up what is not needed");
  }
  const SystemClock clock;
  const auto sink = async::SpdlogSink::to_stderr(clock);
  set_log_sink(sink.get());
  asio::io_context loop{1};
  Opened opened{settings,       std::move(root),  std::move(identity),
                std::move(tls), std::move(setup), std::move(state)};
  const Status served = async::block_on(loop, serve(opened));
  set_log_sink(nullptr);
  return served;
}

}  // namespace

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
// Leaks are looked for by a tracer, and nobody may trace who is confined. The modules' own tests
// look for them.
// NOLINTNEXTLINE(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp): the sanitizer's name
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif
#endif

// NOLINTNEXTLINE(bugprone-exception-escape): an exception that nobody expects ends it, as it should
int main(int argc, char** argv) {
  std::string config = kConfig;
  bool only_check = false;
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    if (word == "--check") {
      only_check = true;
    } else if (word == "--config" && at + 1 < argc) {
      config = argv[++at];
    } else {
      static_cast<void>(std::fputs("usage: cordon-gateway [--config FILE] [--check]\n", stderr));
      return 2;
    }
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  auto settings =
      fleet_program::settings_from("cordon-gateway", config, fleet::read_gateway_settings);
  if (!settings) return 2;
  if (only_check) return 0;
  const Status served = run(*settings);
  if (served) return 0;
  static_cast<void>(std::fprintf(stderr, "cordon-gateway: %s\n", served.error().text().c_str()));
  return 1;
}
