// SPDX-License-Identifier: Apache-2.0
// Ports of a sandbox as a node reaches them, and changes of its files as a node sees them.
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "hosted.h"

namespace cordon::service {
namespace {

using sandbox::Sandbox;
using sandbox::Tunnel;

// Says its port, takes one connection, reads to its end and sends all back.
constexpr const char* kEcho = R"(
import socket, sys
family = socket.AF_INET6 if sys.argv[1] == "::1" else socket.AF_INET
server = socket.socket(family)
server.bind((sys.argv[1], 0))
server.listen()
print(server.getsockname()[1], flush=True)
peer = server.accept()[0]
while True:
    data = peer.recv(65536)
    if not data: break
    peer.sendall(data.upper())
peer.sendall(b"END")
)";

async::Task<std::uint16_t> port_of(sandbox::Process& server) {
  std::string said;
  while (said.find('\n') == std::string::npos) {
    CO_TRY(const sandbox::ProcessEvent event, co_await server.next());
    const auto* output = std::get_if<frame::Output>(&event);
    if (output != nullptr && output->stream == frame::Stream::err) {
      co_return Error{Errc::internal, output->bytes};
    }
    if (output != nullptr) said += output->bytes;
    if (std::holds_alternative<frame::Exited>(event)) {
      co_return Error{Errc::internal, "the server has ended"};
    }
  }
  co_return static_cast<std::uint16_t>(std::stoul(said));
}

async::Task<std::string> read_to_end(Tunnel& tunnel) {
  std::string all;
  while (true) {
    CO_TRY(const std::string part, co_await tunnel.read_some());
    if (part.empty()) co_return all;
    all += part;
  }
}

async::Task<void> write_all(Tunnel& tunnel, std::string bytes) {
  CO_TRY_DO(co_await tunnel.write(std::move(bytes)));
  tunnel.shutdown_write();
  co_return Status{};
}

async::Task<void> talk(Sandbox& inside, std::string address) {
  using namespace asio::experimental::awaitable_operators;
  sandbox::Command command{.arguments = {"python3", "-c", kEcho, address},
                           .environment = {"PATH=/usr/bin:/bin"},
                           .directory = "/"};
  auto server = inside.start(command);
  CO_TRY(const std::uint16_t port, co_await port_of(*server));
  CO_TRY(const std::unique_ptr<Tunnel> tunnel, co_await inside.tunnel(port));
  constexpr std::size_t kMany = std::size_t{8} << 20U;
  const auto begin = std::chrono::steady_clock::now();
  auto [wrote, read] =
      co_await (write_all(*tunnel, std::string(kMany, 'x')) && read_to_end(*tunnel));
  CO_TRY_DO(wrote);
  CO_TRY(const std::string back, read);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "8 MiB there and back in " << took.count() << " s\n";
  EXPECT_EQ(back.size(), kMany + 3);
  EXPECT_TRUE(back.starts_with("XX") && back.ends_with("XEND"));
  const auto refused = co_await inside.tunnel(port);
  EXPECT_FALSE(refused);
  if (!refused) EXPECT_EQ(refused.error().cause().value(), ECONNREFUSED);
  co_return Status{};
}

struct HostPort {
  os::Fd fd;
  std::uint16_t port = 0;
};
HostPort listen_on_host() {
  HostPort made{.fd = os::Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}};
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = ::htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const bool listens = ::bind(made.fd.get(), name, size) == 0 && ::listen(made.fd.get(), 1) == 0 &&
                       ::getsockname(made.fd.get(), name, &size) == 0;
  made.port = listens ? ::ntohs(address.sin_port) : 0;
  return made;
}

TEST_F(RootServiceHosted, ReachesPortsOfASandboxWithoutANetwork) {
  start();
  connect();
  const auto sandbox = launch(plan("abcd2345"));
  ASSERT_TRUE(sandbox);
  use(*sandbox, talk, std::string{"127.0.0.1"});
}

TEST_F(RootServiceHosted, ReachesPortsOfTheOtherLoopback) {
  if (!exists("/proc/net/if_inet6")) GTEST_SKIP() << "no IPv6 here";
  start();
  connect();
  const auto sandbox = launch(plan("abcd2345"));
  ASSERT_TRUE(sandbox);
  use(*sandbox, talk, std::string{"::1"});
}

TEST_F(RootServiceHosted, ReachesPortsOfASandboxWithANetwork) {
  start();
  connect();
  // Held: an egress whose node has gone ends.
  const auto egress = wait(launcher_link_->open_egress("local"));
  ASSERT_TRUE(egress);
  frame::LaunchPlan plan = this->plan("abcd2345");
  plan.network = true;
  plan.tenant = "local";
  const auto sandbox = launch(plan);
  ASSERT_TRUE(sandbox);
  use(*sandbox, talk, std::string{"127.0.0.1"});
}

// Nothing of the host answers: the port is the sandbox's own.
TEST_F(RootServiceHosted, ReachesNoPortOfTheHost) {
  start();
  connect();
  const auto listener = listen_on_host();
  ASSERT_NE(listener.port, 0);
  const auto sandbox = launch(plan("abcd2345"));
  ASSERT_TRUE(sandbox);
  use(
      *sandbox,
      [](Sandbox& inside, std::uint16_t port) -> async::Task<void> {
        const auto refused = co_await inside.tunnel(port);
        EXPECT_FALSE(refused);
        if (!refused) EXPECT_EQ(refused.error().cause().value(), ECONNREFUSED);
        co_return Status{};
      },
      listener.port);
}

TEST_F(RootServiceHosted, SeesWhatChangesInsideUntilItStopsLooking) {
  start();
  connect();
  const auto sandbox = launch(plan("abcd2345"));
  ASSERT_TRUE(sandbox);
  use(*sandbox, [](Sandbox& inside) -> async::Task<void> {
    auto watch = co_await inside.watch({.path = "/tmp", .recursive = true});
    if (!watch) co_return std::move(watch).error();
    auto process = inside.start(shell_command("mkdir /tmp/a; echo x >/tmp/a/f; echo done"));
    CO_TRY_DO(co_await hear_all(*process));
    std::string seen;
    while (seen.find(" a/f ") == std::string::npos) {
      CO_TRY(const frame::WatchEvents told, co_await (*watch)->next());
      for (const auto& event : told.events) seen += " " + event.name + " ";
      EXPECT_FALSE(told.lost);
    }
    CO_TRY(const frame::Usage during, co_await inside.usage());
    EXPECT_EQ(during.processes, 1U) << "who watches";
    watch->reset();
    // Its child ends with its pipe.
    while (true) {
      CO_TRY(const frame::Usage after, co_await inside.usage());
      if (after.processes == 0) co_return Status{};
    }
  });
}

}  // namespace
}  // namespace cordon::service
