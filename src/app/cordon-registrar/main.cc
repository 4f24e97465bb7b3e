// SPDX-License-Identifier: Apache-2.0
// cordon-registrar: beside cordond, has the node be known in its fleet, tells it what was taken
// back there, and hands it the fleet's policy. It runs as the node's own user.
//
// cordon-registrar [--config FILE] [--check]
#include <csignal>
#include <cstdio>
#include <random>
#include <string_view>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/block_on.h"
#include "async/spdlog_sink.h"
#include "base/log.h"
#include "etcd/client.h"
#include "fleet/registrar.h"
#include "fleet/registrar_settings.h"
#include "node_voice.h"
#include "os/file.h"
#include "os/prctl.h"

namespace {

using namespace cordon;

constexpr const char* kConfig = "/etc/cordon/registrar.toml";
constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

// What is wrong has been told when it returns.
Result<fleet::RegistrarSettings> settings_from(const std::string& path) {
  const auto text = os::read_file(os::at_cwd(), path.c_str(), kLargestFile);
  if (!text) {
    static_cast<void>(std::fprintf(stderr, "cordon-registrar: %s\n", text.error().text().c_str()));
    return text.error();
  }
  policy::Problems problems{path};
  auto settings = fleet::read_registrar_settings(*text, problems);
  if (settings) return settings;
  for (const policy::Problem& problem : problems.all()) {
    static_cast<void>(std::fprintf(stderr, "cordon-registrar: %s\n", to_string(problem).c_str()));
  }
  return settings;
}

Result<std::optional<etcd::Identity>> identity_of(const fleet::IdentityFiles& files) {
  if (files.authority.empty()) return std::optional<etcd::Identity>{};
  etcd::Identity identity;
  TRY(identity.authority, os::read_file(os::at_cwd(), files.authority.c_str(), kLargestFile));
  TRY(identity.certificate, os::read_file(os::at_cwd(), files.certificate.c_str(), kLargestFile));
  TRY(identity.key, os::read_file(os::at_cwd(), files.key.c_str(), kLargestFile));
  return std::optional{std::move(identity)};
}

asio::awaitable<void> until_signal() {
  asio::signal_set signals{co_await asio::this_coro::executor, SIGTERM, SIGINT};
  co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
}

async::Task<void> serve(const fleet::RegistrarSettings& settings,
                        std::optional<etcd::Identity> identity) {
  using namespace asio::experimental::awaitable_operators;
  const auto executor = co_await asio::this_coro::executor;
  const SystemClock clock;
  std::random_device random;
  CO_TRY(const auto near,
         etcd::Transport::create(executor, {.members = settings.cell, .identity = identity}));
  CO_TRY(const auto far,
         etcd::Transport::create(executor, {.members = settings.all, .identity = identity}));
  etcd::Client cell{*near, random() % settings.cell.size()};
  etcd::Client all{*far, random() % settings.all.size()};
  fleet::Registrar registrar{executor,
                             {.cell = cell,
                              .all = all,
                              .ask =
                                  [&settings](fleet::Registrar::Question question) {
                                    return registrar::ask_node(settings.node, std::move(question));
                                  },
                              .address = settings.address,
                              .clock = clock}};
  // The key stays until its lease ends: who is started anew within that time was never gone.
  auto first = co_await (registrar.run() || until_signal());
  if (first.index() == 0) co_return std::get<0>(std::move(first));
  co_return Status{};
}

Status run(const fleet::RegistrarSettings& settings) {
  TRY(auto identity, identity_of(settings.identity));
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::set_no_new_privs());
  const SystemClock clock;
  const auto sink = async::SpdlogSink::to_stderr(clock);
  set_log_sink(sink.get());
  asio::io_context loop{1};
  const Status served = async::block_on(loop, serve(settings, std::move(identity)));
  set_log_sink(nullptr);
  return served;
}

}  // namespace

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
      static_cast<void>(std::fputs("usage: cordon-registrar [--config FILE] [--check]\n", stderr));
      return 2;
    }
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  auto settings = settings_from(config);
  if (!settings) return 2;
  if (only_check) return 0;
  const Status served = run(*settings);
  if (served) return 0;
  static_cast<void>(std::fprintf(stderr, "cordon-registrar: %s\n", served.error().text().c_str()));
  return 1;
}
