// SPDX-License-Identifier: Apache-2.0
// The client of etcd and what stands on it, driven over pipes: `fleet_driver MEMBER,... [AUTHORITY
// CERTIFICATE KEY]`. Each line of standard input is `NUMBER COMMAND WORD...`; each line of standard
// output a JSON object with that number. Commands run beside each other.
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>

#include "async/block_on.h"
#include "async/scope.h"
#include "async/waiting.h"
#include "etcd/client.h"
#include "etcd_verbs.h"
#include "fleet_verbs.h"
#include "said.h"

namespace cordon::fleet_test {
namespace {

class Driver {
 public:
  explicit Driver(etcd::Transport& transport) : client_{transport} {}

  asio::awaitable<void> run(std::string number, Words words) {
    auto said = co_await act(number, words);
    if (said) {
      say(number, *said);
    } else {
      say(number, "\"error\":" + in_json(to_string(said.error().code())) +
                      ",\"text\":" + in_json(said.error().text()));
    }
  }

 private:
  async::Task<std::string> act(std::string number, Words words) {
    for (const auto& verb : EtcdVerbs::verbs()) {
      if (verb.name == words[0]) co_return co_await (etcd_.*verb.act)(number, words);
    }
    for (const auto& verb : FleetVerbs::verbs()) {
      if (verb.name == words[0]) co_return co_await (fleet_.*verb.act)(number, words);
    }
    co_return Error{Errc::invalid, "no such command: " + words[0]};
  }

  etcd::Client client_;
  EtcdVerbs etcd_{client_};
  FleetVerbs fleet_{client_};
};

async::Task<void> serve(async::Scope& scope, etcd::Transport*& transport) {
  asio::posix::stream_descriptor input{co_await asio::this_coro::executor,
                                       ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
  Driver driver{*transport};
  std::string held;
  for (;;) {
    const auto [error, size] =
        co_await asio::async_read_until(input, asio::dynamic_buffer(held), '\n', async::kQuiet);
    if (error) break;
    std::istringstream line{held.substr(0, size)};
    held.erase(0, size);
    const Words words{std::istream_iterator<std::string>{line}, {}};
    if (words.size() > 1) scope.spawn(driver.run(words[0], Words{words.begin() + 1, words.end()}));
  }
  scope.cancel();
  co_await scope.join();  // they refer to the driver
  co_return Status{};
}

std::string content_of(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

int drive(int argc, char** argv) {
  etcd::Cluster cluster;
  std::istringstream members{argv[1]};
  for (std::string one; std::getline(members, one, ',');) cluster.members.push_back(one);
  if (argc > 4) {
    cluster.identity =
        etcd::Identity{content_of(argv[2]), content_of(argv[3]), content_of(argv[4])};
  }
  asio::io_context loop{1};
  auto transport = etcd::Transport::create(loop.get_executor(), cluster);
  if (!transport) {
    std::cerr << transport.error().text() << '\n';
    return 1;
  }
  const auto done = async::block_on(loop, async::in_scope(serve, transport->get()));
  return done ? 0 : 1;
}

}  // namespace
}  // namespace cordon::fleet_test

// NOLINTNEXTLINE(bugprone-exception-escape): what leaves it is a bug, and ends the driver
int main(int argc, char** argv) { return argc < 2 ? 2 : cordon::fleet_test::drive(argc, argv); }
