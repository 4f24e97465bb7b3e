// SPDX-License-Identifier: Apache-2.0
// The least node there can be: it blocks where a node waits, so that what is measured is the
// sandbox.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "frame/launcher.h"
#include "guest/test_host.h"
#include "os/socket.h"
#include "plan/lower.h"
#include "policy/policy_text_test.h"
#include "record/host_facts_text.h"

namespace cordon::bench {

using Words = std::vector<std::string>;

template <class T>
T need(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error{std::string{what} + ": " + result.error().text()};
  return *std::move(result);
}

inline void need(const Status& result, const char* what) {
  if (!result) throw std::runtime_error{std::string{what} + ": " + result.error().text()};
}

// The plan of a policy on this host, as its launcher tells of it; its workspace is on the own disk.
inline plan::Lowered lowered(const std::string& policy_file, const HostFacts& host) {
  std::ostringstream text;
  text << std::ifstream{policy_file}.rdbuf();
  plan::Situation situation{.id = need(SandboxId::parse("bench"), "id")};
  situation.home = "/root";
  situation.caller_name = "root";
  const policy::Policy policy = policy::policy_from(text.str());
  return need(plan::lower(policy, host, situation), "lower");
}

// Ids have no digits that look like letters.
inline std::string in_letters(unsigned number) {
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
  BenchNode(const std::string& socket, const std::string& policy_file)
      : socket_{need(os::unix_connect(need(os::UnixAddress::at_path(socket), "address"),
                                      os::SocketType::seqpacket),
                     "connect")},
        buffer_(frame::kLongestLauncherMessage) {
    const Heard heard = hear();
    const auto* const welcome = std::get_if<frame::Welcome>(&heard.first);
    if (welcome == nullptr) throw std::runtime_error{"turned away"};
    lowered_ = lowered(policy_file, need(host_facts_from(welcome->facts), "facts"));
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

}  // namespace cordon::bench
