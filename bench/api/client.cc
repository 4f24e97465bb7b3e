// SPDX-License-Identifier: Apache-2.0
// A client of cordond's API that takes next to nothing of the processors itself.
//
// ORDER SOCKET COUNT [...]:
//   turns SOCKET ROUNDS SANDBOX GAP: bare, run, exec and four calls, one after the other
//
//   load SOCKET CLIENTS SECONDS: POST /v1/run of `true` from all at once
//
//   list SOCKET ROUNDS: GET /v1/sandboxes
//
//   exec SOCKET ROUNDS SANDBOX: exec alone, beside bare
//
//   fill SOCKET COUNT: sandboxes, until so many live
//
// Writes one JSON object; times are microseconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "harness/harness.h"
#include "os/socket.h"

namespace {

using namespace cordon;
using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why) {
  static_cast<void>(std::fprintf(stderr, "bench_api_client: %s\n", why.c_str()));
  std::exit(1);
}

int number_in(const char* text) { return static_cast<int>(std::strtol(text, nullptr, 10)); }

struct Answer {
  int status = 0;
  std::string body;
};

// One connection, one request at a time.
class Connection {
 public:
  explicit Connection(const std::string& path) {
    const auto address = os::UnixAddress::at_path(path);
    if (!address) give_up(address.error().text());
    auto socket = os::unix_connect(*address, os::SocketType::stream);
    if (!socket) give_up(path + ": " + socket.error().text());
    socket_ = *std::move(socket);
  }

  void send(std::string_view method, std::string_view path, std::string_view body) {
    const std::string request =
        fmt::format("{} {} HTTP/1.1\r\nHost: n\r\nContent-Length: {}\r\n\r\n{}", method, path,
                    body.size(), body);
    const auto sent = os::send(socket_, std::as_bytes(std::span{request}));
    if (!sent || *sent != request.size()) give_up("could not send");
  }

  // True when the answer is whole.
  bool take(Answer& answer) {
    std::byte buffer[16'384];
    const auto got = os::receive(socket_, buffer);
    if (!got || got->bytes == 0) give_up("the connection ended");
    text_.append(reinterpret_cast<const char*>(buffer), got->bytes);
    const std::size_t head = text_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t length = text_.find(kLength);
    const std::size_t size =
        length < head ? std::strtoul(text_.c_str() + length + kLength.size(), nullptr, 10) : 0;
    if (text_.size() < head + 4 + size) return false;
    answer.status = number_in(text_.c_str() + 9);
    answer.body = text_.substr(head + 4, size);
    text_.clear();
    return true;
  }

  Answer ask(std::string_view method, std::string_view path, std::string_view body = {}) {
    send(method, path, body);
    Answer answer;
    while (!take(answer)) {
    }
    return answer;
  }

  int number() const { return socket_.get(); }

 private:
  os::Fd socket_;
  std::string text_;
};

constexpr std::string_view kTrue = R"({"command":["/usr/bin/true"]})";

void expect(const Answer& answer, int status) {
  if (answer.status != status) give_up(fmt::format("{}: {}", answer.status, answer.body));
}

// The text of a member, in answers as our own server writes them.
std::string member(const std::string& json, std::string_view name) {
  const std::string mark = fmt::format("\"{}\":", name);
  std::size_t at = json.find(mark);
  if (at == std::string::npos) give_up(fmt::format("no {} in {}", name, json));
  at += mark.size();
  if (json[at] == '"') return json.substr(at + 1, json.find('"', at + 1) - at - 1);
  return json.substr(at, json.find_first_of(",}", at) - at);
}

void bare() {
  pid_t child = 0;
  char name[] = "/usr/bin/true";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  if (::posix_spawn(&child, name, nullptr, nullptr, arguments, environment) != 0) {
    give_up("posix_spawn");
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) give_up("true failed");
}

void exec(Connection& connection, const std::string& sandbox) {
  expect(connection.ask("POST", fmt::format("/v1/sandboxes/{}/run", sandbox), kTrue), 200);
}

void start_and_wait(Connection& connection, const std::string& sandbox) {
  const std::string processes = fmt::format("/v1/sandboxes/{}/processes", sandbox);
  const Answer started = connection.ask("POST", processes, kTrue);
  expect(started, 201);
  const Answer ended =
      connection.ask("GET", fmt::format("{}/{}/wait", processes, member(started.body, "process")));
  expect(ended, 200);
}

void four_calls(Connection& connection) {
  const Answer made = connection.ask("POST", "/v1/sandboxes", "{}");
  expect(made, 201);
  const std::string sandbox = member(made.body, "id");
  start_and_wait(connection, sandbox);
  expect(connection.ask("DELETE", "/v1/sandboxes/" + sandbox), 200);
}

std::string told(std::string_view name, std::vector<double>& samples) {
  const bench::Spread spread = bench::spread_of(samples);
  return fmt::format(R"("{}":{{"min":{:.1f},"p50":{:.1f},"p99":{:.1f}}})", name, spread.min,
                     spread.p50, spread.p99);
}

template <class Work>
void measure(std::vector<double>& samples, Work&& work) {
  samples.push_back(bench::time_ns(work) / 1000);
}

// `gap`: idle before each, as between the calls of one client that thinks.
void turns(const std::string& socket, int rounds, const std::string& sandbox,
           std::chrono::milliseconds gap) {
  Connection connection{socket};
  const auto rest = [&] { std::this_thread::sleep_for(gap); };
  std::vector<double> alone;
  std::vector<double> run;
  std::vector<double> four;
  std::vector<double> in_living;
  std::vector<double> two;
  for (int round = 0; round < rounds; ++round) {
    rest();
    measure(alone, bare);
    rest();
    measure(run, [&] { expect(connection.ask("POST", "/v1/run", kTrue), 200); });
    rest();
    measure(in_living, [&] { exec(connection, sandbox); });
    rest();
    measure(two, [&] { start_and_wait(connection, sandbox); });
    rest();
    measure(four, [&] { four_calls(connection); });
  }
  fmt::print("{{{},{},{},{},{}}}\n", told("bare", alone), told("run", run), told("exec", in_living),
             told("exec_two_calls", two), told("four_calls", four));
}

void exec_alone(const std::string& socket, int rounds, const std::string& sandbox) {
  Connection connection{socket};
  std::vector<double> alone;
  std::vector<double> in_living;
  for (int round = 0; round < rounds; ++round) {
    measure(alone, bare);
    measure(in_living, [&] { exec(connection, sandbox); });
  }
  fmt::print("{{{},{}}}\n", told("bare", alone), told("exec", in_living));
}

void list(const std::string& socket, int rounds) {
  Connection connection{socket};
  std::vector<double> samples;
  for (int round = 0; round < rounds; ++round) {
    measure(samples, [&] { expect(connection.ask("GET", "/v1/sandboxes"), 200); });
  }
  fmt::print("{{{}}}\n", told("list", samples));
}

void fill(const std::string& socket, int count) {
  Connection connection{socket};
  std::vector<double> samples;
  for (int made = 0; made < count; ++made) {
    measure(samples, [&] {
      expect(connection.ask("POST", "/v1/sandboxes", R"({"timeout_seconds":3600})"), 201);
    });
  }
  fmt::print("{{{}}}\n", told("create", samples));
}

void load(const std::string& socket, int clients, int seconds) {
  std::vector<std::unique_ptr<Connection>> all;
  std::vector<pollfd> looks;
  std::vector<Clock::time_point> sent;
  for (int i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<Connection>(socket));
    looks.push_back({.fd = all.back()->number(), .events = POLLIN, .revents = 0});
    sent.push_back(Clock::now());
    all.back()->send("POST", "/v1/run", kTrue);
  }
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds{seconds};
  std::vector<double> samples;
  std::size_t errors = 0;
  std::size_t waiting = all.size();
  while (waiting > 0) {
    if (::poll(looks.data(), looks.size(), -1) < 0) give_up("poll");
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (looks[i].revents == 0) continue;
      Answer answer;
      if (!all[i]->take(answer)) continue;
      const auto now = Clock::now();
      samples.push_back(std::chrono::duration<double, std::micro>(now - sent[i]).count());
      if (answer.status != 200) ++errors;
      if (now < end) {
        sent[i] = now;
        all[i]->send("POST", "/v1/run", kTrue);
      } else {
        looks[i].fd = -1;
        --waiting;
      }
    }
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  const double rate = static_cast<double>(samples.size()) / took;
  fmt::print(R"({{{},"requests":{},"errors":{},"per_second":{:.1f}}})"
             "\n",
             told("run", samples), samples.size(), errors, rate);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view order = argc > 3 ? argv[1] : "";
  const int count = argc > 3 ? number_in(argv[3]) : 0;
  const bool has_fourth = argc == 5;
  if (order == "turns" && argc == 6) {
    turns(argv[2], count, argv[4], std::chrono::milliseconds{number_in(argv[5])});
  } else if (order == "exec" && has_fourth) {
    exec_alone(argv[2], count, argv[4]);
  } else if (order == "load" && has_fourth) {
    load(argv[2], count, number_in(argv[4]));
  } else if (order == "list") {
    list(argv[2], count);
  } else if (order == "fill") {
    fill(argv[2], count);
  } else {
    give_up("turns|load|list|exec|fill SOCKET COUNT [SECONDS|SANDBOX [GAP]]");
  }
  return 0;
}
