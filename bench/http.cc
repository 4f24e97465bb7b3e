// SPDX-License-Identifier: Apache-2.0
// Requests a second of the server with a handler that says hello, over kept connections to a Unix
// socket; and what the kernel is asked for each. With a path alone it only serves there, for other
// generators of load: bench_http PATH, bench_http tcp:PORT.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "http/server.h"
#include "os/socket.h"

namespace {

using namespace cordon;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

async::Task<void> say_hello(http::Exchange& exchange) {
  co_return co_await exchange.answer(200, {{.name = "Content-Type", .value = "text/plain"}},
                                     "hello\n");
}

os::Fd listen_at(const std::string& where) {
  if (!where.starts_with("tcp:"))
    return *os::unix_listen(*os::UnixAddress::at_path(where), os::SocketType::stream);
  os::Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(where.substr(4))));
  const auto* const raw = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(fd.get(), raw, sizeof address) != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
    std::abort();
  return fd;
}

void serve(asio::io_context& loop, const std::string& where, std::atomic<http::Server*>* made) {
  http::ServerSetup setup;
  setup.listeners.push_back({.socket = listen_at(where)});
  setup.handler = say_hello;
  const auto server = *http::Server::create(loop.get_executor(), std::move(setup));
  asio::co_spawn(loop, server->run(), [](const std::exception_ptr& bug) {
    if (bug) std::rethrow_exception(bug);
  });
  if (made != nullptr) *made = server.get();
  loop.run();
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// One request at a time on each of some connections, all in flight together.
std::uint64_t ask(const std::string& path, int connections, Steady::duration span) {
  const std::string request = "GET /hello HTTP/1.1\r\nHost: node\r\nAccept: */*\r\n\r\n";
  const auto address = *os::UnixAddress::at_path(path);
  std::vector<os::Fd> sockets;
  sockets.reserve(static_cast<std::size_t>(connections));
  for (int i = 0; i < connections; ++i)
    sockets.push_back(*os::unix_connect(address, os::SocketType::stream));
  std::array<std::byte, 4096> room{};
  std::uint64_t asked = 0;
  for (const auto end = Steady::now() + span; Steady::now() < end;) {
    for (const auto& socket : sockets)
      if (!os::send(socket, as_bytes(request))) std::abort();
    for (const auto& socket : sockets) {
      const auto got = os::receive(socket, room);
      if (!got || !as_text(std::span{room}.first(got->bytes)).ends_with("hello\n")) std::abort();
      ++asked;
    }
  }
  return asked;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): it says so and dies
int main(int argc, char** argv) {
  asio::io_context loop{1};
  if (argc > 1) {
    serve(loop, argv[1], nullptr);
    return 0;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "cordon-bench-XXXXXX").string();
  const std::string directory = ::mkdtemp(pattern.data());
  const std::string path = directory + "/socket";
  std::atomic<double> cpu = 0;
  std::atomic<http::Server*> made = nullptr;
  std::thread server{[&] {
    serve(loop, path, &made);
    cpu = cpu_seconds();
  }};
  while (made == nullptr) std::this_thread::sleep_for(1ms);
  std::uint64_t total = 0;
  for (const int connections : {1, 8, 64}) {
    const auto begin = Steady::now();
    const std::uint64_t asked = ask(path, connections, 2s);
    const double seconds = std::chrono::duration<double>(Steady::now() - begin).count();
    total += asked;
    fmt::print("{:>3} connections: {:>8.0f} requests/s\n", connections,
               static_cast<double>(asked) / seconds);
  }
  asio::co_spawn(loop, made.load()->drain(1s), [](const std::exception_ptr&, bool) {});
  server.join();
  fmt::print("the server took {:.1f} us of its core for each of {} requests\n",
             cpu * 1e6 / static_cast<double>(total), total);
  std::filesystem::remove(path);
  std::filesystem::remove(directory);
}
