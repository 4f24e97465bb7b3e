// SPDX-License-Identifier: Apache-2.0
// Decisions of a policy with 1,000 host rules and 1,000 path rules; parse and check of a typical
// policy.
#include "policy/policy.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <random>

#include <fmt/format.h>

#include "harness/harness.h"
#include "policy/parse.h"

namespace {
std::atomic<std::uint64_t> g_allocations{0};
}  // namespace

// Counts every allocation of the program: a decision must make none.
void* operator new(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size))
    return memory;  // NOLINT(cppcoreguidelines-no-malloc): this is operator new
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete

namespace {

using namespace cordon;

// Half exact names, a quarter wildcards, a quarter with methods and paths; names, suffixes and deep
// patterns of files.
std::string large_policy() {
  std::string text = "[network]\nmode = \"restricted\"\negress_allowlist = [\n";
  for (int i = 0; i < 1000; ++i) {
    if (i % 4 == 0) {
      text += fmt::format("\"*.zone{}.example.org\",\n", i);
    } else if (i % 4 == 1) {
      text += fmt::format(
          "{{ host = \"api{}.example.com\", methods = [\"GET\"], paths = [\"/v1/{}/**\"] }},\n", i,
          i);
    } else {
      text += fmt::format("\"host{}.example.com:443\",\n", i);
    }
  }
  text += "]\n[filesystem]\nhide = [\n";
  for (int i = 0; i < 500; ++i) {
    text += i % 2 == 0 ? fmt::format("\"**/secret{}\",\n", i) : fmt::format("\"**/*.key{}\",\n", i);
  }
  text += "]\nprotect = [\n";
  for (int i = 0; i < 500; ++i) {
    text += i % 2 == 0 ? fmt::format("\"src/module{}/generated\",\n", i)
                       : fmt::format("\"config/**/locked{}.toml\",\n", i);
  }
  return text + "]\n";
}

policy::Policy load(const std::string& text) {
  auto document = policy::parse(text, "bench.toml", policy::Syntax::toml);
  if (!document) {
    std::cerr << document.error().text() << '\n';
    std::exit(2);
  }
  return *policy::check(*std::move(document), policy::Origin::user, {});
}

// The median over batches of 64 decisions, because one alone is shorter than the clock's own noise.
template <class Ask>
double p50_ns(Ask&& ask) {
  constexpr int kBatch = 64;
  std::vector<double> samples;
  samples.reserve(2000);
  for (int i = 0; i < 2000; ++i) {
    samples.push_back(bench::time_ns([&] {
                        for (int j = 0; j < kBatch; ++j) ask(i * kBatch + j);
                      }) /
                      kBatch);
  }
  return bench::spread_of(samples).p50;
}

struct Questions {
  std::vector<std::string> hosts;
  std::vector<std::string> paths;
};

// A quarter of each kind is known to no rule.
Questions questions() {
  Questions all;
  for (int i = 0; i < 1000; ++i) {
    all.hosts.push_back(i % 4 == 0   ? fmt::format("a.b.zone{}.example.org", i)
                        : i % 4 == 1 ? fmt::format("api{}.example.com", i)
                        : i % 4 == 2 ? fmt::format("host{}.example.com", i)
                                     : fmt::format("unknown{}.evil.example.net", i));
    all.paths.push_back(i % 4 == 0 ? fmt::format("/workspace/src/module{}/generated/x.cc", i % 500)
                        : i % 4 == 1 ? fmt::format("/workspace/config/a/b/locked{}.toml", i % 500)
                        : i % 4 == 2 ? fmt::format("/workspace/lib/deep/er/file{}.cc", i)
                                     : fmt::format("/workspace/x/id.key{}", i % 500));
  }
  return all;
}

// Parse and check of examples/NAME.toml.
void time_loading(bench::Report& report, const std::string& name) {
  std::ifstream file{fmt::format("{}/{}.toml", CORDON_EXAMPLES, name)};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::vector<double> samples;
  samples.reserve(500);
  for (int i = 0; i < 500; ++i) samples.push_back(bench::time_ns([&] { (void)load(text); }) / 1000);
  const auto spread = bench::spread_of(samples);
  report.add("load_" + name + "_p50_us", spread.p50, "us");
  report.add("load_" + name + "_p99_us", spread.p99, "us");
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report{"policy", argc, argv};
  const policy::Policy policy = load(large_policy());

  auto [hosts, paths] = questions();
  std::shuffle(hosts.begin(), hosts.end(), std::mt19937{1});
  std::shuffle(paths.begin(), paths.end(), std::mt19937{2});

  std::uint64_t allowed = 0;
  const auto net = [&](int i) {
    const std::string& host = hosts[static_cast<std::size_t>(i) % hosts.size()];
    allowed += policy.decide(policy::NetQuery{host, 443, "GET", "/v1/5/items"}).allowed() ? 1 : 0;
  };
  const auto path = [&](int i) {
    const std::string& name = paths[static_cast<std::size_t>(i) % paths.size()];
    allowed += policy.decide(policy::PathQuery{policy::Access::write, name}).allowed() ? 1 : 0;
  };
  report.add("net_decision_p50_ns", p50_ns(net), "ns");
  report.add("path_decision_p50_ns", p50_ns(path), "ns");
  const std::uint64_t before = g_allocations.load();
  for (int i = 0; i < 1000; ++i) {
    net(i);
    path(i);
  }
  const std::uint64_t made = g_allocations.load() - before;
  report.add("allocations_per_decision", static_cast<double>(made) / 2000, "");

  time_loading(report, "agent");       // typical: two presets and a few rules of its own
  time_loading(report, "everything");  // every key of the vocabulary
  if (allowed == 0) std::cerr << "nothing was allowed: the figures mean nothing\n";
  return allowed == 0 ? 2 : report.finish();
}
