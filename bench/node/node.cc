// SPDX-License-Identifier: Apache-2.0
// A node for benchmarks: orders come on standard input, one a line, and each
// is answered with one line, mostly microseconds. It blocks where a node waits, so that what is
// measured is the sandbox. Needs root and a launcher that runs as a service.
//
//   bench_node SOCKET POLICY
//
//   spawn WORD...     a program beside us, to its end
//   runsc WORD...     the same of runsc, in namespaces like those in which a sandbox has it
//   cold WORD...      a sandbox: create, run, destroy
//   create N          N more sandboxes that stay; answers when the last one's pid 1 has said hello
//   exec WORD...      in the sandbox that was created last
//   ask               each sandbox that stays runs `true`; answers how many did
//   destroy           all that stay, one after the other
//   end               the same by their pid 1s, all at once; answers when the last has ended
//   bare N MEMORY     N processes that wait, in namespaces and groups like a sandbox's
//   drop              ends them
//   rate MS WIDTH     sandboxes to their ends for so long, so many at a time; answers the rate
//
// MEMORY is 1 or 0: with a memory group, or without.
#include <array>
#include <chrono>
#include <csignal>
#include <deque>
#include <iostream>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>

#include "harness/harness.h"
#include "node/bare_runsc.h"
#include "node/bare_sets.h"
#include "node/link.h"
#include "node/stream.h"
#include "os/pidfd.h"

namespace cordon::bench {
namespace {

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

// All that orders act on.
struct Bench {
  BenchNode& node;
  std::deque<Living> stay;
  BareSets bare;
};

double cold(Bench& bench, const Words& words) {
  return time_ns([&] {
    Living sandbox = bench.node.launch();
    bench.node.run(sandbox, words);
    bench.node.destroy(sandbox.id);
  });
}

double create(Bench& bench, const Words& words) {
  return time_ns([&] {
    for (int left = std::stoi(words.at(0)); left > 0; --left) {
      bench.stay.push_back(bench.node.launch());
    }
    if (!bench.stay.back().host.hear_hello()) throw std::runtime_error{"no hello"};
  });
}

double exec(Bench& bench, const Words& words) {
  return time_ns([&] { bench.node.run(bench.stay.back(), words); });
}

double ask(Bench& bench, const Words&) {
  for (Living& sandbox : bench.stay) bench.node.run(sandbox, {"/usr/bin/true"});
  return static_cast<double>(bench.stay.size()) * 1e3;
}

double destroy(Bench& bench, const Words&) {
  return time_ns([&] {
    for (; !bench.stay.empty(); bench.stay.pop_back()) {
      bench.node.destroy(bench.stay.back().id);
    }
  });
}

double end(Bench& bench, const Words&) {
  return time_ns([&] {
    for (const Living& sandbox : bench.stay) {
      static_cast<void>(os::pidfd_send_signal(sandbox.pidfd, SIGKILL));
    }
    for (const Living& sandbox : bench.stay) bench.node.destroy(sandbox.id);
    bench.stay.clear();
  });
}

double make_bare(Bench& bench, const Words& words) {
  return time_ns([&] { bench.bare.make(std::stoi(words.at(0)), words.at(1) == "1"); });
}

double drop_bare(Bench& bench, const Words&) {
  return time_ns([&] { bench.bare.drop(); });
}

double rate(Bench& bench, const Words& words) {
  const std::chrono::milliseconds span{std::stol(words.at(0))};
  return 1e3 * Stream{bench.node}.run(span, static_cast<unsigned>(std::stoul(words.at(1))));
}

using Order = double (*)(Bench& bench, const Words& words);
constexpr std::array<std::pair<std::string_view, Order>, 11> kOrders = {{
    {"spawn", [](Bench&, const Words& words) { return spawn(words); }},
    {"runsc", [](Bench&, const Words& words) { return time_ns([&] { run_bare_runsc(words); }); }},
    {"cold", cold},
    {"create", create},
    {"exec", exec},
    {"ask", ask},
    {"destroy", destroy},
    {"end", end},
    {"bare", make_bare},
    {"drop", drop_bare},
    {"rate", rate},
}};

double obey(Bench& bench, const std::string& line) {
  std::istringstream in{line};
  std::string verb;
  in >> verb;
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  for (const auto& [name, order] : kOrders) {
    if (name == verb) return order(bench, words);
  }
  throw std::runtime_error{"unknown order: " + verb};
}

}  // namespace
}  // namespace cordon::bench

int main(int argc, char** argv) try {
  using namespace cordon;
  if (argc != 3) throw std::runtime_error{"bench_node SOCKET POLICY"};
  bench::BenchNode node{argv[1], argv[2]};
  bench::Bench bench{.node = node};
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << bench::obey(bench, line) / 1e3 << '\n' << std::flush;
  }
} catch (const std::exception& error) {
  std::cout << "failed: " << error.what() << '\n' << std::flush;
  return 1;
}
