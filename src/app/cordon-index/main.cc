// SPDX-License-Identifier: Apache-2.0
// cordon-index: what all nodes of one cell have, for lists and quotas. Two or more of a cell may
// run: one acts, the others wait. It keeps nothing that nodes do not tell again.
//
// cordon-index [--config FILE] [--check]
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <string_view>
#include <unistd.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>

#include "app/fleet_program/confine.h"
#include "app/fleet_program/kept_text.h"
#include "app/fleet_program/opened.h"
#include "async/block_on.h"
#include "async/scope.h"
#include "async/spdlog_sink.h"
#include "base/id.h"
#include "base/log.h"
#include "etcd/client.h"
#include "fleet/cell_index.h"
#include "fleet/census_readers.h"
#include "fleet/election.h"
#include "fleet/index_key.h"
#include "fleet/index_service.h"
#include "fleet/index_settings.h"
#include "fleet/moved.h"
#include "fleet/nodes.h"
#include "fleet/unit_book.h"
#include "fleet/unit_desk.h"
#include "http/server.h"
#include "os/file_lock.h"
#include "os/own_directory.h"
#include "wire/unit.h"

namespace {

using namespace cordon;
using namespace asio::experimental::awaitable_operators;
using fleet_program::Cluster;

constexpr const char* kConfig = "/etc/cordon/index.toml";
constexpr const char* kMap = "map";
constexpr std::chrono::seconds kDrain{2};

// All that was opened and read before the process gave up the right to.
struct Opened {
  const fleet::IndexSettings& settings;
  token::RootKey root;
  std::optional<etcd::Identity> identity;
  std::optional<http::ClientTls> nodes_tls;
  http::ServerSetup setup;
  os::Fd state;
};

struct Parts {
  Opened& opened;
  Cluster& cell;
  fleet::LinkHouse& house;
  fleet::Nodes& nodes;
  fleet::Election& election;
  fleet::CensusReaders& readers;
  fleet::UnitDesk& desk;
  Cluster& all;
  fleet::Moved& moved;
  http::Server& server;
};

// Without it a list lacks what was moved.
asio::awaitable<void> follow_moved(etcd::Client& client, fleet::Moved& moved) {
  const Status ended = co_await fleet::follow_moved(client, moved, [](const std::string&, bool) {});
  log(LogLevel::error, "index", "where sandboxes are moved to is not followed any more",
      {{"why", ended ? std::string{"it ended"} : ended.error().text()}});
}

async::Task<void> begin_and_serve(async::Scope& scope, Parts& parts) {
  const fleet::IndexSettings& settings = parts.opened.settings;
  scope.spawn(parts.house.watchdog.run());
  scope.spawn(parts.nodes.keep(scope));
  scope.spawn(parts.readers.keep(scope));
  scope.spawn(parts.desk.keep(scope));
  scope.spawn(follow_moved(*parts.all.client, parts.moved));
  scope.spawn(parts.server.run());
  log(LogLevel::info, "index", "serving",
      {{"cell", static_cast<std::int64_t>(settings.cell)}, {"address", settings.address}});
  // Who does not know the nodes of its cell, or may not stand for election, is of no use.
  auto first =
      co_await (fleet_program::until_signal() ||
                parts.nodes.follow_cell(*parts.cell.client, settings.cell) || parts.election.run());
  static_cast<void>(co_await parts.election.leave());
  co_await parts.server.drain(kDrain);
  if (first.index() == 1) {
    co_return std::move(std::get<1>(first)).error().with("the cell is not followed any more");
  }
  if (first.index() == 2) {
    co_return std::move(std::get<2>(first)).error().with("stand for election");
  }
  co_return Status{};
}

async::Task<void> serve(Opened& opened) {
  const auto executor = co_await asio::this_coro::executor;
  const fleet::IndexSettings& settings = opened.settings;
  const SystemClock clock;
  CO_TRY(token::AudienceKey key, opened.root.derive(fleet::audience_of_index(settings.cell)));
  CO_TRY(Cluster cell, fleet_program::cluster_of(executor, opened.identity, settings.members));
  CO_TRY(Cluster all, fleet_program::cluster_of(executor, opened.identity, settings.etcd));
  fleet::Reissue reissue{std::move(opened.root)};
  fleet::LinkHouse house{executor};
  if (opened.nodes_tls) house.tls.emplace(*std::move(opened.nodes_tls));
  fleet::Nodes nodes{house,
                     reissue,
                     clock,
                     {},
                     [](std::size_t) { return std::size_t{0}; },  // it places nothing
                     [&opened](const std::string& map) {
                       const Status kept = fleet_program::keep_text(opened.state, kMap, map);
                       if (kept) return;
                       log(LogLevel::error, "index", "the map was not kept for the next start",
                           {{"why", kept.error().text()}});
                     }};
  CO_TRY(const auto map, fleet_program::kept_text(opened.state, kMap));
  if (map) nodes.restore(*map);
  fleet::Election election{executor, *cell.client, settings.cell, settings.address, clock, {}};
  fleet::UnitBook book{settings.cell};
  fleet::Moved moved;
  fleet::CellIndex index{[&reissue](std::string_view id, fleet::NodeId node) {
                           const auto parsed = SandboxId::parse(id);
                           return parsed && reissue.node_of(*parsed) == node;
                         },
                         [&book](const std::string& tenant, const std::string& said) {
                           const auto unit = wire::read_unit(said);
                           if (unit) book.settle(tenant, *unit);
                         },
                         [&reissue, &moved](std::string_view id, fleet::NodeId node) {
                           const auto parsed = SandboxId::parse(id);
                           if (!parsed || !reissue.node_of(*parsed)) return fleet::Guest::nobody;
                           return moved.where(id) == node ? fleet::Guest::known
                                                          : fleet::Guest::stranger;
                         }};
  fleet::CensusReaders readers{executor, *cell.client, settings.cell, nodes,
                               election, index,        clock};
  fleet::UnitDesk desk{settings.cell, *all.client, index, readers, book, clock};
  std::vector<token::AudienceKey> keys;
  keys.push_back(std::move(key));
  const gate::Gate gate{std::move(keys),
                        {0, ::geteuid()},
                        [](const token::RevocationId&) { return false; },
                        [](std::string_view) -> std::optional<gate::Bearer> { return {}; },
                        clock};
  fleet::IndexService service{{.cell = settings.cell,
                               .index = index,
                               .readers = readers,
                               .desk = desk,
                               .gate = gate,
                               .clock = clock}};
  opened.setup.handler = [&](http::Exchange& exchange) { return service.handle(exchange); };
  // Few addresses, each with many requests, and heads that name many nodes.
  opened.setup.limits.per_address = opened.setup.limits.connections;
  opened.setup.limits.head.bytes *= 2;
  CO_TRY(const auto server, http::Server::create(executor, std::move(opened.setup)));
  Parts parts{opened, cell, house, nodes, election, readers, desk, all, moved, *server};
  co_return co_await async::in_scope(
      [](async::Scope& scope, Parts* all) -> async::Task<void> {
        auto served = co_await begin_and_serve(scope, *all);
        scope.cancel();
        co_return served;
      },
      &parts);
}

Status run(const fleet::IndexSettings& settings) {
  TRY(token::RootKey root, fleet_program::root_key_from(settings.root_key));
  TRY(os::Fd state, os::open_own_directory(settings.state));
  if (const Status alone = os::try_flock(state, os::Lock::exclusive); !alone) {
    return Error{Errc::exists, settings.state + ": another cordon-index has this state directory"};
  }
  TRY(auto identity, fleet_program::identity_of(settings.etcd_identity));
  TRY(auto tls, fleet_program::towards_nodes(settings.nodes));
  TRY(http::ServerSetup setup, fleet_program::setup_of(settings.listen));
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
      static_cast<void>(std::fputs("usage: cordon-index [--config FILE] [--check]\n", stderr));
      return 2;
    }
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  auto settings = fleet_program::settings_from("cordon-index", config, fleet::read_index_settings);
  if (!settings) return 2;
  if (only_check) return 0;
  const Status served = run(*settings);
  if (served) return 0;
  static_cast<void>(std::fprintf(stderr, "cordon-index: %s\n", served.error().text().c_str()));
  return 1;
}
