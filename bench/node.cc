// SPDX-License-Identifier: Apache-2.0
// The least node there can be, for benchmarks: orders come on standard input, one a line, and each
// is answered with one line, mostly microseconds. It blocks where a node waits, so that what is
// measured is the sandbox. Needs root and a launcher that runs as a service.
//
//   bench_node SOCKET POLICY
//
//   spawn WORD...     a program beside us, to its end
//   cold WORD...      a sandbox: create, run, destroy
//   create N          N more sandboxes that stay; answers when the last one's pid 1 has said hello
//   exec WORD...      in the sandbox that was created last
//   ask               each sandbox that stays runs `true`; answers how many did
//   destroy           all that stay, one after the other
//   end               the same by their pid 1s, all at once; answers when the last has ended
//   bare N MEMORY     N processes that wait, each in namespaces and groups like a sandbox's
//   (MEMORY: 1 or 0) drop              ends them rate MS WIDTH     sandboxes to their ends for so
//   long, WIDTH at a time; answers how many a second
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "frame/launcher.h"
#include "guest/test_host.h"
#include "harness/harness.h"
#include "launcher/groups.h"
#include "os/cgroup_layout.h"
#include "os/namespace.h"
#include "os/pidfd.h"
#include "os/probe_host.h"
#include "os/process.h"
#include "os/socket.h"
#include "plan/lower.h"
#include "policy/policy_text_test.h"

namespace cordon::bench {
namespace {

using Words = std::vector<std::string>;

template <class T>
T need(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error{std::string{what} + ": " + result.error().text()};
  return *std::move(result);
}

plan::Lowered lowered(const std::string& policy_file) {
  std::ostringstream text;
  text << std::ifstream{policy_file}.rdbuf();
  plan::Situation situation{.id = need(SandboxId::parse("bench"), "id")};
  situation.home = "/root";
  situation.caller_name = "root";
  const policy::Policy policy = policy::policy_from(text.str());
  return need(plan::lower(policy, os::probe_host({}), situation), "lower");
}

// Ids have no digits that look like letters.
std::string in_letters(unsigned number) {
  std::string letters;
  for (; number > 0; number /= 16) letters += static_cast<char>('a' + number % 16);
  return letters;
}

struct Living {
  std::string id;
  guest::TestHost host;
  os::Fd pidfd;
  os::Fd range;
  std::uint32_t processes = 0;
};

class BenchNode {
 public:
  BenchNode(const std::string& socket, plan::Lowered lowered)
      : lowered_{std::move(lowered)},
        socket_{need(os::unix_connect(need(os::UnixAddress::at_path(socket), "address"),
                                      os::SocketType::seqpacket),
                     "connect")},
        buffer_(frame::kLongestLauncherMessage) {
    if (!std::holds_alternative<frame::Welcome>(hear().first))
      throw std::runtime_error{"turned away"};
  }

  void ask_launch() {
    lowered_.plan.id = in_letters(static_cast<unsigned>(::getpid())) + "z" + in_letters(++last_);
    const auto plan = frame::encode(lowered_.plan);
    say(frame::Launch{{reinterpret_cast<const char*>(plan.data()), plan.size()}});
  }
  void ask_destroy(const std::string& id) { say(frame::Destroy{id}); }

  using Heard = std::pair<frame::FromLauncher, std::vector<os::Fd>>;
  Heard hear() {
    auto got = need(os::receive(socket_, buffer_, 3), "the launcher");
    if (got.bytes == 0) throw std::runtime_error{"the launcher has gone"};
    return {need(frame::decode_from_launcher(std::span{buffer_}.first(got.bytes)), "answer"),
            std::move(got.fds)};
  }
  static Living living(Heard heard) {
    if (const auto* refused = std::get_if<frame::Refused>(&heard.first))
      throw std::runtime_error{refused->text};
    if (const auto* broken = std::get_if<frame::Broken>(&heard.first))
      throw std::runtime_error{broken->step + ": " + broken->text};
    auto& fds = heard.second;
    return {std::get<frame::Launched>(heard.first).id, guest::TestHost{std::move(fds.at(0))},
            std::move(fds.at(1)), fds.size() > 2 ? std::move(fds[2]) : os::Fd{}};
  }
  Living launch() {
    ask_launch();
    return living(hear());
  }
  void destroy(const std::string& id) {
    ask_destroy(id);
    static_cast<void>(std::get<frame::Ended>(hear().first));
  }
  void start(Living& sandbox, const Words& words) const {
    sandbox.host.send(frame::Start{.process = ++sandbox.processes,
                                   .arguments = words,
                                   .environment = lowered_.environment,
                                   .directory = lowered_.directory});
  }
  void run(Living& sandbox, const Words& words) const {
    start(sandbox, words);
    if (!sandbox.host.hear_end(sandbox.processes))
      throw std::runtime_error{"no end of the program"};
    check(sandbox);
  }
  static void check(Living& sandbox) {
    const guest::Heard& heard = sandbox.host.heard[sandbox.processes];
    if (!heard.failures.empty()) throw std::runtime_error{heard.failures[0].step};
    if (heard.exits.at(0).value != 0) throw std::runtime_error{"the program failed: " + heard.err};
    sandbox.host.heard.clear();
  }
  const os::Fd& socket() const { return socket_; }

 private:
  void say(const frame::ToLauncher& message) {
    static_cast<void>(need(os::send(socket_, frame::encode(message)), "send"));
  }

  plan::Lowered lowered_;
  os::Fd socket_;
  std::vector<std::byte> buffer_;
  unsigned last_ = 0;
};

// Sandboxes side by side: each answer and each exit brings the next request.
class Stream {
 public:
  explicit Stream(BenchNode& node) : node_{node} {}

  double run(std::chrono::milliseconds span, unsigned width) {
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < width; ++i) ask(begin + span);
    while (asked_ > 0 || !running_.empty()) turn(begin + span);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return ended_ / took.count();
  }

 private:
  void ask(std::chrono::steady_clock::time_point until) {
    if (std::chrono::steady_clock::now() >= until) return;
    node_.ask_launch();
    ++asked_;
  }
  void turn(std::chrono::steady_clock::time_point until) {
    std::vector<pollfd> news{{.fd = node_.socket().get(), .events = POLLIN, .revents = 0}};
    for (auto& [id, sandbox] : running_)
      news.push_back({.fd = sandbox.host.stream().get(), .events = POLLIN, .revents = 0});
    if (::poll(news.data(), news.size(), 10'000) <= 0) throw std::runtime_error{"nothing moves"};
    std::size_t at = 0;
    std::vector<std::string> over;
    for (auto& [id, sandbox] : running_) {
      if (news[++at].revents == 0) continue;
      sandbox.host.hear_once();
      if (sandbox.host.heard[1].over()) over.push_back(id);
    }
    if (news[0].revents != 0) take(until);
    for (const std::string& id : over) {
      BenchNode::check(running_.at(id));
      running_.erase(id);
      node_.ask_destroy(id);
      ++asked_;
    }
  }
  void take(std::chrono::steady_clock::time_point until) {
    auto heard = node_.hear();
    --asked_;
    if (std::holds_alternative<frame::Ended>(heard.first)) {
      ++ended_;
      return ask(until);
    }
    Living sandbox = BenchNode::living(std::move(heard));
    node_.start(sandbox, {"/usr/bin/true"});
    const std::string id = sandbox.id;
    running_.emplace(id, std::move(sandbox));
  }

  BenchNode& node_;
  std::map<std::string, Living> running_;
  int asked_ = 0;
  int ended_ = 0;
};

double spawn(const Words& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<char*, 3> environment{const_cast<char*>("PATH=/usr/bin:/bin"),
                                   const_cast<char*>("HOME=/"), nullptr};
  return time_ns([&] {
    pid_t pid = 0;
    int status = 0;
    if (::posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environment.data()) !=
            0 ||
        ::waitpid(pid, &status, 0) != pid || status != 0) {
      throw std::runtime_error{words[0] + " failed"};
    }
  });
}

// What the kernel's part of an idle sandbox costs by itself.
class BareSets {
 public:
  void make(int count, bool memory) {
    if (!trees_)
      trees_ = std::make_shared<const launcher::GroupTrees>(
          launcher::GroupTrees::open(need(os::read_cgroup_trees(), "groups")));
    for (; count > 0; --count) {
      auto groups = need(
          launcher::SandboxGroups::prepare(
              trees_, need(launcher::group_name(in_letters(++last_)), "name"), {.memory = memory}),
          "groups");
      auto child =
          need(os::Child::start({.namespaces = os::NsSet{os::Ns::user, os::Ns::mount, os::Ns::pid,
                                                         os::Ns::ipc, os::Ns::uts, os::Ns::net},
                                 .cgroup = groups.v2_dir()},
                                [&] {
                                  if (!groups.enter() || !os::unshare(os::Ns::cgroup)) return 1;
                                  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                                  static_cast<void>(os::close_from(0));
                                  for (;;) ::pause();
                                }),
               "clone");
      groups.rest();
      sets_.emplace_back(std::move(groups), std::move(child));
    }
  }
  void drop() { sets_.clear(); }

 private:
  launcher::Trees trees_;
  std::deque<std::pair<launcher::SandboxGroups, os::Child>> sets_;  // the process goes first
  unsigned last_ = 0;
};

double order(const std::string& verb, const Words& words, BenchNode& node, std::deque<Living>& stay,
             BareSets& bare) {
  if (verb == "spawn") return spawn(words);
  if (verb == "cold") {
    return time_ns([&] {
      Living sandbox = node.launch();
      node.run(sandbox, words);
      node.destroy(sandbox.id);
    });
  }
  if (verb == "create") {
    return time_ns([&] {
      for (int left = std::stoi(words.at(0)); left > 0; --left) stay.push_back(node.launch());
      if (!stay.back().host.hear_hello()) throw std::runtime_error{"no hello"};
    });
  }
  if (verb == "exec") return time_ns([&] { node.run(stay.back(), words); });
  if (verb == "ask") {
    for (Living& sandbox : stay) node.run(sandbox, {"/usr/bin/true"});
    return static_cast<double>(stay.size()) * 1e3;
  }
  if (verb == "destroy") {
    return time_ns([&] {
      for (; !stay.empty(); stay.pop_back()) node.destroy(stay.back().id);
    });
  }
  if (verb == "end") {
    return time_ns([&] {
      for (const Living& sandbox : stay)
        static_cast<void>(os::pidfd_send_signal(sandbox.pidfd, SIGKILL));
      for (const Living& sandbox : stay) node.destroy(sandbox.id);
      stay.clear();
    });
  }
  if (verb == "bare")
    return time_ns([&] { bare.make(std::stoi(words.at(0)), words.at(1) == "1"); });
  if (verb == "drop") return time_ns([&] { bare.drop(); });
  if (verb == "rate") {
    return 1e3 * Stream{node}.run(std::chrono::milliseconds{std::stol(words.at(0))},
                                  static_cast<unsigned>(std::stoul(words.at(1))));
  }
  throw std::runtime_error{"unknown order: " + verb};
}

}  // namespace
}  // namespace cordon::bench

int main(int argc, char** argv) try {
  using namespace cordon;
  if (argc != 3) throw std::runtime_error{"bench_node SOCKET POLICY"};
  plan::Lowered lowered = bench::lowered(argv[2]);
  bench::BenchNode node{argv[1], std::move(lowered)};
  std::deque<bench::Living> stay;
  bench::BareSets bare;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in{line};
    std::string verb;
    in >> verb;
    bench::Words words;
    for (std::string word; in >> word;) words.push_back(word);
    std::cout << bench::order(verb, words, node, stay, bare) / 1e3 << std::endl;
  }
} catch (const std::exception& error) {
  std::cout << "failed: " << error.what() << std::endl;
  return 1;
}
