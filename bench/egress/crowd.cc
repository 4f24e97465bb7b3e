// SPDX-License-Identifier: Apache-2.0
// Many sandboxes' sockets in one cordon-egress, without the sandboxes: it plays launcher and node.
// Needs root. Prints one line of JSON.
//
//   bench_egress_crowd EGRESS idle N             N sandboxes that do nothing; memory, and whether
//                                                all of them are still answered
//   bench_egress_crowd EGRESS slow N ADDRESS     N connections of one sandbox that never say
//                                                enough, and what they do to another one's
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "frame/egress.h"
#include "harness/harness.h"
#include "os/memfd.h"
#include "os/socket.h"
#include "os/steering.h"
#include "plan/network.h"
#include "policy/parse.h"
#include "policy/policy.h"

namespace cordon::bench {
namespace {

constexpr int kPatience = 10'000;  // milliseconds
constexpr uid_t kNobody = 47'311;  // no account has it

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error{what}; }

template <class T>
T need(Result<T> result) {
  if (!result) fail(result.error().text());
  return *std::move(result);
}

// A cordon-egress of our own, ended with us.
class Egress {
 public:
  explicit Egress(const char* program) {
    os::SocketPair launcher = need(os::socketpair(os::SocketType::seqpacket));
    os::SocketPair node = need(os::socketpair(os::SocketType::seqpacket));
    const os::Fd state = need(os::memfd_create("cordon-egress"));
    pid_ = ::fork();
    if (pid_ < 0) fail("fork");
    if (pid_ == 0) become(program, {launcher.two.get(), node.two.get(), state.get()});
    launcher_ = std::move(launcher.one);
    node_ = std::move(node.one);
  }
  Egress(const Egress&) = delete;
  Egress& operator=(const Egress&) = delete;
  ~Egress() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // The caller's namespace becomes that of a sandbox which is served. Its sockets stay over there.
  void serve(const std::string& id, const policy::Policy& policy) {
    {
      const os::SteeredSockets sockets = need(os::steer_own_network());
      const std::array<const os::Fd*, 2> fds{&sockets.tcp, &sockets.udp};
      need(os::send(launcher_, frame::encode(frame::LauncherToEgress{frame::Listen{id}}), fds));
    }
    std::array<std::byte, 256> held{};
    await(launcher_, held);
    need(os::send(node_, frame::encode(frame::NodeToEgress{plan::serve_of(policy, id)})));
    for (;;) {
      std::vector<std::byte> buffer(frame::kLongestEgressMessage);
      const std::size_t size = await(node_, buffer);
      const auto said = need(frame::decode_egress_to_node(std::span{buffer}.first(size)));
      if (const auto* refused = std::get_if<frame::NotServed>(&said)) fail(refused->text);
      if (std::holds_alternative<frame::Serving>(said)) return;
    }
  }

  // What is told to the node, read and forgotten.
  void drain() {
    std::vector<std::byte> buffer(frame::kLongestEgressMessage);
    for (;;) {
      pollfd news{.fd = node_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&news, 1, 0) != 1 || !os::receive(node_, buffer)) return;
    }
  }

  long resident_kib() const {
    std::ifstream status{"/proc/" + std::to_string(pid_) + "/status"};
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    }
    fail("cordon-egress has ended");
  }

 private:
  [[noreturn]] static void become(const char* program, std::array<int, 3> fds) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::array<int, 3> high{};
    for (std::size_t i = 0; i < fds.size(); ++i) high[i] = ::fcntl(fds[i], F_DUPFD, 64);
    for (std::size_t i = 0; i < fds.size(); ++i) ::dup2(high[i], static_cast<int>(i) + 3);
    ::close_range(6, ~0U, 0);
    if (::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0) {
      ::_exit(126);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::execl(program, "cordon-egress", nullptr);
    ::_exit(127);
  }

  static std::size_t await(const os::Fd& socket, std::span<std::byte> buffer) {
    pollfd news{.fd = socket.get(), .events = POLLIN, .revents = 0};
    if (::poll(&news, 1, kPatience) != 1) fail("cordon-egress does not answer");
    const os::Received got = need(os::receive(socket, buffer));
    if (got.bytes == 0) fail("cordon-egress has ended");
    return got.bytes;
  }

  pid_t pid_ = -1;
  os::Fd launcher_;
  os::Fd node_;
};

policy::Policy policy_from(const std::string& rules) {
  const std::string text = "version = 1\n[network]\n" + rules;
  return need(policy::check(need(policy::parse(text, "crowd.toml", policy::Syntax::toml)),
                            policy::Origin::user, {}));
}

os::Fd here() { return os::Fd{::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)}; }

void enter(const os::Fd& space) {
  if (::setns(space.get(), CLONE_NEWNET) != 0) fail("setns");
}

void unshare_network() {
  if (::unshare(CLONE_NEWNET) != 0) fail("unshare: root is needed");
}

// Whether api.example.com gets an address in this namespace.
bool has_names() {
  constexpr std::string_view kQuery{
      "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03"
      "api\x07"
      "example\x03"
      "com\x00\x00\x01\x00\x01",
      33};
  const os::Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_in to{.sin_family = AF_INET,
                 .sin_port = htons(53),
                 .sin_addr = {htonl(0x08080808)},
                 .sin_zero = {}};
  ::sendto(socket.get(), kQuery.data(), kQuery.size(), 0, reinterpret_cast<const sockaddr*>(&to),
           sizeof to);
  pollfd news{.fd = socket.get(), .events = POLLIN, .revents = 0};
  std::array<unsigned char, 512> answer{};
  return ::poll(&news, 1, kPatience) == 1 &&
         ::recv(socket.get(), answer.data(), answer.size(), 0) > 12 && answer[7] > 0;
}

int idle(Egress& egress, int count) {
  // One host is judged request by request: each sandbox has an authority of its own.
  const policy::Policy policy = policy_from(
      "egress_allowlist = [\"files.example.com:443\",\n"
      "  { host = \"api.example.com\", methods = [\"GET\"], paths = [\"/v1/**\"] }]\n");
  constexpr int kAskedOf = 50;
  std::vector<os::Fd> some;
  long before = 0;
  for (int i = 0; i < count; ++i) {
    unshare_network();
    egress.serve("idle" + std::to_string(i), policy);
    if (i == 0) before = egress.resident_kib();
    if (i % std::max(count / kAskedOf, 1) == 0) some.push_back(here());
  }
  std::this_thread::sleep_for(std::chrono::seconds{3});  // past its first regular work
  const long after = egress.resident_kib();
  std::size_t answered = 0;
  for (const os::Fd& space : some) {
    enter(space);
    answered += has_names() ? 1U : 0U;
  }
  std::printf(
      "{\"sandboxes\": %d, \"before_kib\": %ld, \"after_kib\": %ld, \"asked\": %zu, \"answered\": "
      "%zu}\n",
      count, before, after, some.size(), answered);
  return 0;
}

os::Fd open_to(const in_addr& address, std::uint16_t port) {
  os::Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) return {};
  const sockaddr_in to{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = address, .sin_zero = {}};
  const int done = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  return done == 0 ? std::move(socket) : os::Fd{};
}

// Begins a hello, then a byte now and then; those that are cut off begin anew. Until it is killed.
[[noreturn]] void be_slow(int count, const in_addr& address, int told) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr std::string_view kBegun{"\x16\x03\x01\x02\x00\x01", 6};
  std::vector<os::Fd> open(static_cast<std::size_t>(count));
  for (bool first = true;; first = false) {
    for (os::Fd& socket : open) {
      const bool alive =
          socket && ::send(socket.get(), "\x00", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
      if (!alive) {
        socket = open_to(address, 443);
        if (socket) ::send(socket.get(), kBegun.data(), kBegun.size(), MSG_NOSIGNAL);
      }
      if (!first) std::this_thread::sleep_for(std::chrono::microseconds{1'000});
    }
    if (first && ::write(told, "x", 1) != 1) ::_exit(1);
  }
}

// Until the first byte of an answer, in microseconds.
double ask_once(const in_addr& address) {
  constexpr std::string_view kRequest{
      "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"};
  bool answered = false;
  const double took = time_ns([&] {
    const os::Fd socket = open_to(address, 80);
    std::array<char, 1024> buffer{};
    answered = socket && ::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0 &&
               ::recv(socket.get(), buffer.data(), buffer.size(), 0) > 0;
  });
  if (!answered) fail("the other sandbox gets no answer");
  return took / 1e3;
}

void ask_often(Egress& egress, const in_addr& address, std::vector<double>& took) {
  for (int i = 0; i < 200; ++i) {
    took.push_back(ask_once(address));
    egress.drain();
  }
}

int slow(Egress& egress, int count, const char* where) {
  in_addr address{};
  if (::inet_pton(AF_INET, where, &address) != 1) fail("no address");
  const std::string rules = "egress_allowlist = [\"" + std::string{where} + ":443\", { host = \"" +
                            where + "\", port = 80, protocol = \"tcp\" }]\n";
  unshare_network();
  egress.serve("bad", policy_from(rules + "connections = " + std::to_string(count) + "\n"));
  const os::Fd bad = here();
  unshare_network();
  egress.serve("good", policy_from(rules));
  const os::Fd good = here();
  const long before = egress.resident_kib();
  long most = before;
  std::vector<double> quiet;
  std::vector<double> beset;
  for (int turn = 0; turn < 3; ++turn) {
    ask_often(egress, address, quiet);
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) fail("pipe2");
    const os::Fd heard{ready[0]};
    os::Fd told{ready[1]};
    enter(bad);
    const pid_t pid = ::fork();
    if (pid == 0) be_slow(count, address, told.get());
    told = {};
    enter(good);
    pollfd news{.fd = heard.get(), .events = POLLIN, .revents = 0};
    const bool begun = ::poll(&news, 1, kPatience) == 1 && (news.revents & POLLIN) != 0;
    try {
      if (!begun) fail("the slow connections are not there");
      ask_often(egress, address, beset);
      most = std::max(most, egress.resident_kib());
    } catch (...) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      throw;
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds{300});  // it closes them all
  }
  const Spread without = spread_of(quiet);
  const Spread with = spread_of(beset);
  std::printf(
      "{\"connections\": %d, \"before_kib\": %ld, \"most_kib\": %ld, \"quiet_p50_us\": %.1f, "
      "\"beset_p50_us\": %.1f, \"quiet_p99_us\": %.1f, \"beset_p99_us\": %.1f}\n",
      count, before, most, without.p50, with.p50, without.p99, with.p99);
  return 0;
}

int run(int argc, char** argv) {
  if (argc < 4) fail("see crowd.cc");
  const std::string kind = argv[2];
  Egress egress{argv[1]};
  if (kind == "idle") return idle(egress, std::stoi(argv[3]));
  if (kind == "slow" && argc == 5) return slow(egress, std::stoi(argv[3]), argv[4]);
  fail("see crowd.cc");
}

}  // namespace
}  // namespace cordon::bench

int main(int argc, char** argv) {
  try {
    return cordon::bench::run(argc, argv);
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "bench_egress_crowd: %s\n", error.what()));
    return 2;
  }
}
