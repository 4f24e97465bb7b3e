// SPDX-License-Identifier: Apache-2.0
// Draining, running out of descriptors, and what idle connections cost.
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <thread>

#include "http/server_rig_test.h"
#include "os/rlimit.h"

namespace cordon::http {
namespace {

async::Task<void> say_hello(Exchange& exchange) {
  const std::string& path = exchange.head().target.path;
  if (path != "/") {
    asio::steady_timer timer{co_await asio::this_coro::executor, path == "/pause" ? 200ms : 1h};
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return co_await exchange.answer(200, {}, "hello");
}

ServerRig::Setup hello() {
  ServerRig::Setup setup;
  setup.handler = say_hello;
  return setup;
}

// Asks until it is told, or sees, that the connection ends. Gives how many requests went out whole
// and were not answered whole.
int lost_requests(const ServerRig& rig, std::atomic<int>& answered) {
  TestClient client = rig.connect();
  for (;;) {
    if (!client.send(get("/"))) return 0;  // refused to be sent: the client knows
    const Answer answer = client.read();
    if (!answer.error.empty()) return 1;
    ++answered;
    if (only(answer.head.fields, "connection") == "close") return 0;
  }
}

TEST(HttpServerLife, LosesNoRequestWhileItDrains) {
  for (int turn = 0; turn < 5; ++turn) {
    ServerRig rig{hello()};
    std::atomic<int> answered = 0;
    std::atomic<int> lost = 0;
    std::vector<std::thread> clients;
    clients.reserve(8);
    for (int i = 0; i < 8; ++i) clients.emplace_back([&] { lost += lost_requests(rig, answered); });
    ASSERT_TRUE(rig.comes([&] { return answered > 50; }));
    EXPECT_TRUE(rig.drain(20s).get());
    for (auto& client : clients) client.join();
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(rig.counts().connections, 0U);
  }
}

TEST(HttpServerLife, HearsTheFirstWordOfWhoHasJustCome) {
  ServerRig rig{hello()};
  TestClient fresh = rig.connect();
  ASSERT_TRUE(rig.comes([&] { return rig.counts().connections == 1; }));
  auto drained = rig.drain(20s);
  std::this_thread::sleep_for(20ms);
  ASSERT_TRUE(fresh.send(get("/")));
  const Answer answer = fresh.read();
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(only(answer.head.fields, "connection"), "close");
  EXPECT_TRUE(drained.get());
}

TEST(HttpServerLife, EndsTheIdleAtOnceAndWaitsForTheBusy) {
  ServerRig rig{hello()};
  TestClient idle = rig.connect();
  EXPECT_EQ(idle.ask(get("/")).body, "hello");
  TestClient fresh = rig.connect();
  TestClient busy = rig.connect();
  ASSERT_TRUE(busy.send(get("/pause")));
  ASSERT_TRUE(rig.comes([&] { return rig.counts().requests == 2; }));
  auto drained = rig.drain(20s);
  EXPECT_TRUE(idle.is_ended());
  EXPECT_TRUE(fresh.is_ended());
  const Answer answer = busy.read();
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(only(answer.head.fields, "connection"), "close");
  EXPECT_TRUE(drained.get());
  // Who comes now waits for a successor: nobody accepts.
  EXPECT_EQ(rig.counts().accepted, 3U);
}

TEST(HttpServerLife, CancelsWhatOutlivesTheDrain) {
  ServerRig rig{hello()};
  TestClient busy = rig.connect();
  ASSERT_TRUE(busy.send(get("/forever")));
  ASSERT_TRUE(rig.comes([&] { return rig.counts().requests == 1; }));
  EXPECT_FALSE(rig.drain(20ms).get());
  EXPECT_TRUE(busy.is_ended());
  EXPECT_TRUE(rig.comes([&] { return rig.counts().connections == 0; }));
}

TEST(HttpServerLife, AcceptsAgainWhenDescriptorsAreFreed) {
  const auto before = os::get_rlimit(os::Rlimit::open_files);
  ASSERT_TRUE(before);
  ServerRig rig{hello()};
  // Clients are made first: they must not be what runs out.
  std::vector<os::Fd> sockets;
  sockets.reserve(8);
  for (int i = 0; i < 8; ++i)
    sockets.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const os::Fd lowest{::fcntl(0, F_DUPFD_CLOEXEC, 0)};
  // One number is left for the server, and it is taken by the first of the clients.
  const auto least = static_cast<std::uint64_t>(lowest.get()) + 1;
  ASSERT_TRUE(os::set_rlimit(os::Rlimit::open_files, {.soft = least, .hard = before->hard}));
  const auto address = *os::UnixAddress::at_path(rig.path());
  const auto* const raw = reinterpret_cast<const sockaddr*>(&address.raw());
  std::vector<TestClient> clients;
  for (auto& socket : sockets) {
    EXPECT_EQ(::connect(socket.get(), raw, address.size()), 0);
    clients.emplace_back(std::move(socket));
    EXPECT_TRUE(clients.back().send(get("/")));
  }
  EXPECT_TRUE(rig.comes([&] { return rig.counts().out_of_files > 0; }));
  ASSERT_TRUE(os::set_rlimit(os::Rlimit::open_files, *before));
  for (auto& client : clients) EXPECT_EQ(client.read().body, "hello");
  EXPECT_EQ(rig.counts().out_of_files, 1U);  // told once, though it lasted
}

std::size_t resident_kib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    std::size_t value = 0;
    if (word == "VmRSS:" && status >> value) return value;
  }
  return 0;
}

TEST(HttpServerLife, HoldsNoBufferForIdleConnections) {
  ServerRig::Setup setup = hello();
  setup.limits.connections = 2000;
  ServerRig rig{std::move(setup)};
  for (int i = 0; i < 64; ++i) EXPECT_EQ(rig.connect().ask(get("/")).body, "hello");
  const auto limit = os::get_rlimit(os::Rlimit::open_files);
  if (!limit || limit->soft.value_or(1 << 20U) < 2100) GTEST_SKIP() << "too few descriptors";
  const std::size_t before = resident_kib();
  std::vector<os::Fd> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(rig.connect_fd());
    const std::string request = get("/");
    ASSERT_EQ(::send(idle.back().get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  ASSERT_TRUE(rig.comes([&] { return rig.counts().requests == 1064; }));
  // Half of a head, which the slowest of clients would leave.
  for (const auto& fd : idle) ASSERT_EQ(::send(fd.get(), "GET / HT", 8, MSG_NOSIGNAL), 8);
  const std::size_t each = (resident_kib() - before) * 1024 / 1000;
  RecordProperty("bytes_each", static_cast<int>(each));
  std::cerr << "an idle connection takes " << each << " bytes\n";
#if !__has_feature(address_sanitizer)
  EXPECT_LT(each, 8192U);
#endif
}

}  // namespace
}  // namespace cordon::http
