// SPDX-License-Identifier: Apache-2.0
// cordond: one Linux box as a service of sandboxes. It has no rights: what it may ask for is up to
// the launcher's floor.
//
// cordond [--config FILE] [--check]
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/e2b/face.h"
#include "api/e2b/interpreter.h"
#include "api/rest/rest.h"
#include "async/block_on.h"
#include "async/scope.h"
#include "async/spdlog_sink.h"
#include "audit/log_directory.h"
#include "base/log.h"
#include "gate/named_sandbox.h"
#include "http/server.h"
#include "node/adoption.h"
#include "node/audit_disk.h"
#include "node/audit_feed.h"
#include "node/audit_retention.h"
#include "node/confine.h"
#include "node/fleet_policy.h"
#include "node/image_keeper.h"
#include "node/kept_listeners.h"
#include "node/launcher_bond.h"
#include "node/monitor.h"
#include "node/sealing.h"
#include "node/spare_memory.h"
#include "node/unpack_program.h"
#include "os/fault_point.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/own_directory.h"
#include "os/random.h"
#include "record/host_facts_text.h"
#include "sandbox/process/service_backend.h"
#include "token/key_file.h"

namespace {

using namespace cordon;

constexpr const char* kConfig = "/etc/cordon/cordond.toml";
constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
constexpr std::chrono::seconds kDrain{30};
// Verdicts of what has ended, and which creates were answered.
constexpr std::chrono::hours kKept{24};
constexpr std::chrono::minutes kBetweenSweeps{10};

// What is wrong has been told when it returns.
Result<node::Settings> settings_from(const std::string& path) {
  const auto text = os::read_file(os::at_cwd(), path.c_str(), kLargestFile);
  if (!text) {
    static_cast<void>(std::fprintf(stderr, "cordond: %s\n", text.error().text().c_str()));
    return text.error();
  }
  policy::Problems problems{path};
  auto settings = node::read_settings(*text, problems);
  if (settings) return settings;
  for (const policy::Problem& problem : problems.all()) {
    static_cast<void>(std::fprintf(stderr, "cordond: %s\n", to_string(problem).c_str()));
  }
  return settings;
}

Result<token::AudienceKey> key_from(const node::Settings& settings) {
  TRY(const std::string text, os::read_own_file(settings.token_key, token::kLongestKeyFile));
  auto key = token::parse_key_file(as_bytes(text));
  if (!key) return std::move(key).error().with(settings.token_key);
  if (auto* own = std::get_if<token::AudienceKey>(&*key)) {
    if (own->audience() == settings.name) return std::move(*own);
    return Error{Errc::invalid, settings.token_key + ": the key is of another node"};
  }
  return std::get<token::RootKey>(*key).derive(settings.name);
}

Result<http::ServerSetup> setup_of(const node::Settings& settings,
                                   const node::KeptListeners& listeners) {
  http::ServerSetup setup;
  TRY(os::Fd local, listeners.local());
  setup.listeners.push_back({std::move(local), false});
  TRY(os::Fd tcp, listeners.tcp());
  if (!tcp) return setup;
  const bool has_tls = !settings.certificate.empty();
  setup.listeners.push_back({std::move(tcp), has_tls});
  if (!has_tls) return setup;
  http::ServerTlsFiles files;
  TRY(files.certificates, os::read_file(os::at_cwd(), settings.certificate.c_str(), kLargestFile));
  TRY(files.key, os::read_file(os::at_cwd(), settings.key.c_str(), kLargestFile));
  if (!settings.client_authority.empty()) {
    TRY(files.client_authorities,
        os::read_file(os::at_cwd(), settings.client_authority.c_str(), kLargestFile));
  }
  TRY(setup.tls, http::ServerTls::create(files));
  return setup;
}

std::string new_request_id() {
  const auto random = os::random_bytes<10>();
  return random ? base32(*random) : std::string{"unnamed"};
}

asio::awaitable<void> keep_swept(journal::Journal& journal, const Clock& clock) {
  asio::steady_timer pause{co_await asio::this_coro::executor};
  for (;;) {
    pause.expires_after(kBetweenSweeps);
    co_await pause.async_wait(asio::use_awaitable);
    const Status swept = co_await journal.write(
        journal::Durability::process,
        [now = clock.wall()](journal::Ledger& ledger) { return ledger.sweep(now, kKept); });
    if (!swept) {
      log(LogLevel::error, "cordond", "the journal was not swept",
          {{"failure", swept.error().text()}});
    }
  }
}

// Returns when a signal asks for the end.
asio::awaitable<void> until_signal() {
  asio::signal_set signals{co_await asio::this_coro::executor, SIGTERM, SIGINT};
  co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
}

struct Opened {
  const node::Settings& settings;
  token::AudienceKey key;
  audit::Log& log;
  os::Fd log_directory;
  journal::Journal& journal;
  const Clock& clock;
  std::vector<journal::SandboxRow> rows;  // of the one before us, as are these
  std::vector<journal::Revocation> revocations;
  std::vector<journal::KeyRow> keys;
  std::uint32_t start;  // which one of this node's it is
  bool is_draining;     // since before
  std::optional<journal::ReleaseRow> release;
};

// What serves, once all of it stands. Everything that it starts ends in `scope`, before its parts.
struct Parts {
  Opened& opened;
  sandbox::LauncherLink& launcher;
  sandbox::ServiceBackend& backend;
  node::AuditDisk& disk;
  node::Sealing& sealing;
  node::Networks& networks;
  node::Brokers& brokers;
  node::Monitor& monitor;
  node::Residents& residents;
  node::Room& room;
  node::Census& census;
  api::Rest& rest;
  api::e2b::Face& e2b;
  std::unique_ptr<http::Server>& server;
  std::optional<node::KeptListeners>& listeners;
};

async::Task<void> begin_and_serve(async::Scope& scope, Parts& parts) {
  const node::Settings& settings = parts.opened.settings;
  scope.spawn(parts.disk.keep());
  scope.spawn(parts.sealing.keep());
  CO_TRY_DO(co_await parts.monitor.begin());
  parts.networks.live_in(scope);
  parts.brokers.live_in(scope);
  parts.residents.live_in(scope);
  parts.e2b.live_in(scope);
  // From the first sandbox on: what is adopted must not end with the next death.
  scope.spawn(node::keep_bond(parts.launcher, parts.backend, parts.monitor, parts.listeners));
  CO_TRY(const node::Adopted adopted,
         co_await node::adopt_all(std::move(parts.opened.rows), parts.residents, parts.launcher,
                                  parts.backend, parts.opened.journal));
  parts.monitor.forget_strangers();
  // Not before: what was told of those that are not adopted yet waits in the kernel.
  scope.spawn(parts.monitor.keep());
  CO_TRY(parts.listeners, co_await node::KeptListeners::open(settings, parts.launcher));
  CO_TRY(http::ServerSetup setup, setup_of(settings, *parts.listeners));
  setup.handler = [&](http::Exchange& exchange) {
    return gate::is_for_e2b(exchange.head()) ? parts.e2b.handle(exchange)
                                             : parts.rest.handle(exchange);
  };
  if (settings.fleet && !settings.client_authority.empty()) {
    // Few addresses, each with many clients behind it, and heads that have grown on the way.
    setup.limits.per_address = setup.limits.connections;
    setup.limits.head.bytes *= 2;
    setup.limits.head.fields += 8;
  }
  if (settings.fleet) {
    setup.also = [&room = parts.room, &census = parts.census] {
      return http::Fields{
          {std::string{node::kGaugeField}, gauge_text(node::gauge_of(room, census))}};
    };
  }
  CO_TRY(parts.server, http::Server::create(co_await asio::this_coro::executor, std::move(setup)));
  log(LogLevel::info, "cordond", "serving",
      {{"socket", settings.unix_socket},
       {"start", static_cast<std::int64_t>(parts.opened.start)},
       {"adopted", static_cast<std::int64_t>(adopted.living)},
       {"ended", static_cast<std::int64_t>(adopted.ended)},
       {"lost", static_cast<std::int64_t>(adopted.lost)}});
  scope.spawn(parts.server->run());
  scope.spawn(keep_swept(parts.opened.journal, parts.opened.clock));
  CO_TRY(os::Fd log_directory, os::duplicate(parts.opened.log_directory));
  scope.spawn(node::keep_audit_days(parts.opened.log, std::move(log_directory),
                                    settings.audit.keep_days, parts.opened.clock));
  scope.spawn(node::give_back_memory());
  co_await until_signal();
  co_await parts.server->drain(kDrain);
  co_return Status{};
}

async::Task<void> serve(Opened& opened) {
  const auto executor = co_await asio::this_coro::executor;
  const node::Settings& settings = opened.settings;
  CO_TRY(sandbox::LauncherLink launcher,
         co_await sandbox::LauncherLink::connect(settings.launcher));
  CO_TRY(const HostFacts host, host_facts_from(launcher.facts()));
  CO_TRY(node::Admission admission, node::Admission::create(settings, host));
  sandbox::ServiceBackend backend{executor, launcher};
  const auto place = settings.fleet.value_or(node::FleetPlace{});
  const node::SandboxIds ids{opened.key,
                             {.cell = place.cell, .node = place.node, .epoch = opened.start}};
  node::Room room{opened.start,
                  settings.fleet ? std::optional{place.slots} : std::optional<std::uint64_t>{},
                  opened.is_draining};
  node::Census census{executor};
  node::Quotas quotas{settings, opened.clock};
  node::FleetPolicy policy{
      {.admission = admission, .quotas = quotas, .journal = opened.journal, .log = opened.log},
      opened.key.secret()};
  policy.restore(opened.release);
  node::Budgets budgets{opened.clock};
  node::AuditDisk disk{executor, opened.log, settings.audit};
  CO_TRY(os::Fd log_directory, os::duplicate(opened.log_directory));
  node::Sealing sealing{opened.log, std::move(log_directory),
                        [&] { return launcher.open_notary(); }, settings.audit};
  node::Networks networks{executor,
                          [&](std::string tenant, os::Fd state) {
                            return launcher.open_egress(std::move(tenant), std::move(state));
                          },
                          opened.log};
  node::Brokers brokers{executor, opened.clock,
                        [&](std::string tenant) { return launcher.open_broker(std::move(tenant)); },
                        networks};
  node::Events events{executor, opened.clock};
  node::Monitor monitor{
      executor, opened.log,
      [&](std::vector<os::Fd> kept) { return launcher.open_recorder(std::move(kept)); },
      settings.audit.events_per_second};
  node::Residents residents{{.executor = executor,
                             .clock = opened.clock,
                             .backend = backend,
                             .journal = opened.journal,
                             .log = opened.log,
                             .disk = disk,
                             .ids = ids,
                             .admission = admission,
                             .quotas = quotas,
                             .budgets = budgets,
                             .room = room,
                             .census = census,
                             .networks = networks,
                             .brokers = brokers,
                             .events = events,
                             .monitor = monitor,
                             .state = settings.state}};
  node::Revocations revocations{executor, opened.journal, opened.revocations};
  node::ApiKeys api_keys{executor, opened.journal, revocations, opened.keys};
  api::e2b::AccessTokens access_tokens{opened.key.secret()};
  std::vector<token::AudienceKey> keys;
  keys.push_back(std::move(opened.key));
  const auto find_key = [&](std::string_view text) -> std::optional<gate::Bearer> {
    const auto key = api_keys.find(text);
    if (!key) return std::nullopt;
    return gate::Bearer{key->authority, key->id};
  };
  const gate::Gate gate{std::move(keys),
                        {0, ::geteuid()},
                        [&](const token::RevocationId& id) { return revocations.has(id); },
                        find_key,
                        opened.clock};
  node::Archives archives{executor,
                          {.program = node::unpack_program(),
                           .entries = settings.transfers.entries,
                           .bytes = settings.transfers.bytes,
                           .at_once = settings.transfers.at_once}};
  CO_TRY(os::Fd feed_directory, os::duplicate(opened.log_directory));
  node::AuditFeed feed{executor, opened.log, std::move(feed_directory)};
  node::ImageKeeper keeper{executor, [&] { return launcher.open_keeper(); }};
  api::e2b::Face e2b{executor,
                     {.residents = residents,
                      .settings = settings,
                      .gate = gate,
                      .clock = opened.clock,
                      .quotas = quotas,
                      .archives = archives,
                      .keeper = keeper,
                      .log = opened.log,
                      .disk = disk,
                      .new_request_id = new_request_id},
                     std::move(access_tokens)};
  std::unique_ptr<http::Server> server;
  api::Rest rest{executor,
                 {.residents = residents,
                  .room = room,
                  .policy = policy,
                  .census = census,
                  .journal = opened.journal,
                  .brokers = brokers,
                  .settings = settings,
                  .gate = gate,
                  .revocations = revocations,
                  .keys = api_keys,
                  .clock = opened.clock,
                  .archives = archives,
                  .events = events,
                  .quotas = quotas,
                  .log = opened.log,
                  .disk = disk,
                  .sealing = sealing,
                  .feed = feed,
                  .doors = [&e2b](const node::Resident& one) { return e2b.doors_of(one); },
                  .standby = [] { return api::e2b::supervisor_standby(); },
                  .e2b_row = [&e2b](const node::Resident& one) { return e2b.row_of(one); },
                  .server = [&] { return server->counts(); },
                  .new_request_id = new_request_id}};
  std::optional<node::KeptListeners> listeners;
  Parts parts{opened,    launcher, backend, disk, sealing, networks, brokers,  monitor,
              residents, room,     census,  rest, e2b,     server,   listeners};
  co_return co_await async::in_scope(
      [](async::Scope& scope, Parts* all) -> async::Task<void> {
        auto served = co_await begin_and_serve(scope, *all);
        // The launcher keeps the sandboxes, for the next one of us.
        scope.cancel();
        co_return served;
      },
      &parts);
}

Status run(const node::Settings& settings) {
  TRY(token::AudienceKey key, key_from(settings));
  TRY(const os::Fd state, os::open_own_directory(settings.state));
  node::keep_one_heap();
  // Before the first thread: who is confined is the one that asks, and those that it makes.
  if (Status confined = node::confine(settings); !confined) {
    return std::move(confined).error().with("give up what is not needed");
  }
  const SystemClock clock;
  const auto sink = async::SpdlogSink::to_stderr(clock);
  set_log_sink(sink.get());
  // Two would each take the other's sandboxes for lost.
  if (const Status alone = os::try_flock(state, os::Lock::exclusive); !alone) {
    return Error{Errc::exists, settings.state + ": another cordond has this state directory"};
  }
  TRY(os::Fd directory, audit::make_log_directory(state));
  TRY(os::Fd writable, os::duplicate(directory));
  TRY(const auto audit, audit::Log::open(std::move(writable), clock));
  TRY(journal::Ledger ledger, journal::Ledger::open(settings.state + "/journal"));
  TRY_DO(ledger.sweep(clock.wall(), kKept));
  TRY(std::vector<journal::SandboxRow> rows, ledger.unended());
  TRY(std::vector<journal::Revocation> revocations, ledger.revocations());
  TRY(std::vector<journal::KeyRow> keys, ledger.keys());
  TRY(const std::uint32_t start, ledger.count_start());
  TRY(const bool is_draining, ledger.is_draining());
  TRY(auto release, ledger.release());
  journal::Journal journal{std::move(ledger)};
  asio::io_context loop{1};
  Opened opened{settings,        std::move(key), *audit,          std::move(directory),
                journal,         clock,          std::move(rows), std::move(revocations),
                std::move(keys), start,          is_draining,     std::move(release)};
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
      static_cast<void>(std::fputs("usage: cordond [--config FILE] [--check]\n", stderr));
      return 2;
    }
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  os::arm_fault_point(std::getenv("CORDON_FAULT"));  // NOLINT(concurrency-mt-unsafe): one thread
  auto settings = settings_from(config);
  if (!settings) return 2;
  if (only_check) return 0;
  const Status served = run(*settings);
  if (served) return 0;
  static_cast<void>(std::fprintf(stderr, "cordond: %s\n", served.error().text().c_str()));
  return 1;
}
