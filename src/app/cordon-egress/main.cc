// SPDX-License-Identifier: Apache-2.0
// cordon-egress: decides what of a sandbox's traffic gets out. It reads what attackers write, and
// has no rights and no files.
//
// Started by the launcher with descriptors 3 (the launcher), 4 (the node) and 5 (a file in memory
// that outlives us).
#include <csignal>
#include <cstdio>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "egress/confine.h"
#include "egress/dialler.h"
#include "egress/resolver.h"
#include "egress/server.h"
#include "egress/state_file.h"
#include "egress/tls.h"
#include "egress/trust_store.h"
#include "frame/egress.h"
#include "os/socket.h"

namespace {

using namespace cordon;

constexpr int kLauncher = 3;
constexpr int kNode = 4;
constexpr int kState = 5;

Status serve(os::Fd launcher, os::Fd node, const os::Fd& file) {
  asio::io_context loop{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};  // one thread: nothing needs a lock
  TRY(egress::StateFile state, egress::StateFile::open(file));
  TRY(const auto resolver, egress::Resolver::open(loop.get_executor()));
  egress::Dialler dialler{*resolver};
  auto system = egress::TrustStore::load();
  if (!system) system = egress::TrustStore::none();
  TRY(const egress::TrustStore trusted, std::move(system));
  TRY(const egress::TlsServer tls_server, egress::TlsServer::create());
  TRY(const egress::TlsClient tls_client, egress::TlsClient::create(trusted));
  const SystemClock clock;
  auto conduit = os::Conduit::create();
  egress::Server server{{.executor = loop.get_executor(),
                         .dialler = dialler,
                         .clock = clock,
                         .trusted = trusted,
                         .tls_server = tls_server,
                         .tls_client = tls_client,
                         .conduit = conduit ? &*conduit : nullptr},
                        std::move(launcher),
                        std::move(node),
                        state};
  TRY_DO(egress::confine());
  asio::co_spawn(loop, server.run(), [&](const std::exception_ptr&) { loop.stop(); });
  loop.run();
  return {};
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an exception that nobody expects ends it, as it should
int main(int argc, char**) {
  if (argc != 1) {
    static_cast<void>(std::fputs("cordon: egress: started by cordon-launcher\n", stderr));
    return 2;
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  os::Fd node{kNode};
  auto said = os::duplicate(node);
  const Status served = serve(os::Fd{kLauncher}, std::move(node), os::Fd{kState});
  if (!served && said) {
    const frame::EgressToNode why = frame::NotServed{.id = {}, .text = served.error().text()};
    static_cast<void>(os::send(*said, frame::encode(why)));
  }
  // Nothing of ours needs an orderly end, and its filter allows no other.
  ::_exit(served ? 0 : 125);
}
