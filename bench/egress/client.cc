// SPDX-License-Identifier: Apache-2.0
// The client of bench/egress.py, the same for every way to the server; it takes as little of the
// processor as it can. Prints one line of JSON.
//
//   bench_egress_client pull NAME PORT PATH STREAMS MS           TLS, then bytes a second
//   bench_egress_client connect tcp|tls NAME PORT PARALLEL MS    a connection for each request
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "harness/harness.h"
#include "os/fd.h"

namespace cordon::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kDiscarded = std::size_t{1} << 20U;
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

struct FreeContext {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
};
struct FreeSsl {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};
using OwnedSsl = std::unique_ptr<SSL, FreeSsl>;

sockaddr_in find(const std::string& name, const std::string& port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), port.c_str(), &hints, &found) != 0) {
    throw std::runtime_error{name + " has no address"};
  }
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  ::freeaddrinfo(found);
  return address;
}

os::Fd connect_to(const sockaddr_in& address) {
  os::Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) return {};
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return socket;
}

std::string request(const std::string& name, const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n";
}

struct Target {
  std::string name;
  sockaddr_in address{};
  SSL_CTX* tls = nullptr;  // none: in the clear

  OwnedSsl handshake(const os::Fd& socket) const {
    OwnedSsl ssl{::SSL_new(tls)};
    ::SSL_set_fd(ssl.get(), socket.get());
    ::SSL_set_tlsext_host_name(ssl.get(), name.c_str());
    return ::SSL_connect(ssl.get()) == 1 ? std::move(ssl) : nullptr;
  }
};

// Records of TLS are counted and thrown away unread: what they hold is nobody's business here.
std::size_t pull_one(const Target& target, const std::string& path, Clock::time_point end) {
  const os::Fd socket = connect_to(target.address);
  if (!socket) return 0;
  const OwnedSsl ssl = target.handshake(socket);
  const std::string words = request(target.name, path);
  if (!ssl || ::SSL_write(ssl.get(), words.data(), static_cast<int>(words.size())) <= 0) return 0;
  std::size_t total = 0;
  while (Clock::now() < end) {
    const ssize_t got = ::recv(socket.get(), nullptr, kDiscarded, MSG_TRUNC);
    if (got <= 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

int pull(const Target& target, const std::string& path, int streams,
         std::chrono::milliseconds time) {
  std::atomic<std::size_t> total{0};
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> all;
    all.reserve(static_cast<std::size_t>(streams));
    for (int i = 0; i < streams; ++i) {
      all.emplace_back([&] { total += pull_one(target, path, begin + time); });
    }
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("{\"bytes\": %zu, \"seconds\": %.6f}\n", total.load(), took);
  return total > 0 ? 0 : 1;
}

// Whether the answer came whole; `first`: until its first byte.
bool exchange(const Target& target, const std::string& words, Clock::time_point& first) {
  const os::Fd socket = connect_to(target.address);
  if (!socket) return false;
  const OwnedSsl ssl = target.tls != nullptr ? target.handshake(socket) : nullptr;
  if (target.tls != nullptr && !ssl) return false;
  const int size = static_cast<int>(words.size());
  const auto sent = ssl ? ::SSL_write(ssl.get(), words.data(), size)
                        : ::send(socket.get(), words.data(), words.size(), MSG_NOSIGNAL);
  if (sent != size) return false;
  std::array<char, 4096> buffer{};
  bool any = false;
  for (;;) {
    const auto got = ssl ? ::SSL_read(ssl.get(), buffer.data(), static_cast<int>(buffer.size()))
                         : ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return any && (got == 0 || ssl);
    if (!any) first = Clock::now();
    any = true;
  }
}

int connect(const Target& target, int parallel, std::chrono::milliseconds time) {
  const std::string words = request(target.name, "/small");
  std::vector<std::vector<double>> took(static_cast<std::size_t>(parallel));
  std::atomic<int> failed{0};
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> all;
    all.reserve(took.size());
    for (auto& own : took) {
      all.emplace_back([&] {
        while (Clock::now() < begin + time) {
          const auto start = Clock::now();
          Clock::time_point first{};
          if (!exchange(target, words, first) && ++failed > 100) return;
          if (first > start)
            own.push_back(std::chrono::duration<double, std::micro>(first - start).count());
        }
      });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> samples;
  for (const auto& own : took) samples.insert(samples.end(), own.begin(), own.end());
  if (samples.empty()) return 1;
  const std::size_t count = samples.size();
  const Spread spread = spread_of(samples);
  std::printf(
      "{\"count\": %zu, \"failed\": %d, \"seconds\": %.6f, \"min_us\": %.1f, \"p50_us\": %.1f, "
      "\"p99_us\": %.1f}\n",
      count, failed.load(), seconds, spread.min, spread.p50, spread.p99);
  return 0;
}

int run(const std::vector<std::string>& words) {
  const std::unique_ptr<SSL_CTX, FreeContext> context{::SSL_CTX_new(::TLS_client_method())};
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  if (words.size() != 6) throw std::runtime_error{"six words are needed: see client.cc"};
  const std::chrono::milliseconds time{std::stoi(words[5])};
  if (words[0] == "pull") {
    return pull({words[1], find(words[1], words[2]), context.get()}, words[3], std::stoi(words[4]),
                time);
  }
  const bool tls = words[1] == "tls";
  return connect({words[2], find(words[2], words[3]), tls ? context.get() : nullptr},
                 std::stoi(words[4]), time);
}

}  // namespace
}  // namespace cordon::bench

int main(int argc, char** argv) {
  try {
    return cordon::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "bench_egress_client: %s\n", error.what()));
    return 2;
  }
}
