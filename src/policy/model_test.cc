// SPDX-License-Identifier: Apache-2.0
// A second, plain reading of the rules for connections and paths: linear scans over the document,
// no indexes, patterns by their definition. It must agree with the real decisions.
#include <array>

#include <gtest/gtest.h>

#include "policy/checked.h"
#include "policy/host_view.h"
#include "policy/naive_glob_test.h"
#include "policy/random_policy_test.h"

namespace cordon::policy {
namespace {

using random::Dice;

namespace model {

bool host_matches(const HostPattern& pattern, std::string_view host) {
  if (pattern.is_block()) {
    const auto address = ipv4_from(host);
    const std::uint64_t first = pattern.address.value_or(0);
    return address && *address >= first && *address < first + (1ULL << (32U - pattern.bits));
  }
  if (!pattern.wildcard) return host == pattern.name;
  return host.size() > pattern.name.size() + 1 && host.ends_with("." + pattern.name);
}

// The name itself before any wildcard, a longer wildcard before a shorter; an address before any
// block, a narrow block before a wide one.
std::size_t rank(const HostPattern& pattern) {
  if (pattern.is_block()) return pattern.bits;
  return pattern.wildcard ? pattern.name.size() : 1000;
}

// The spellings that a request may have where its path is judged; those of the random questions.
bool is_usual(std::string_view path) {
  for (const std::string_view odd : {"%2e", "//", ";", "/../", "/./"}) {
    if (path.find(odd) != std::string_view::npos) return false;
  }
  return path.starts_with('/');
}

bool url_listed(const std::vector<std::string>& patterns, std::string_view path) {
  if (patterns.empty()) return true;
  if (!is_usual(path)) return false;
  std::string_view relative = path.substr(1);
  if (relative.ends_with('/')) relative.remove_suffix(1);
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    if (pattern == "/" || path == "/") return path == pattern;
    return naive::covers(std::string_view{pattern}.substr(1), relative);
  });
}

bool rule_allows(const EgressRule& rule, const NetQuery& query) {
  if (query.method.empty() || (rule.methods.empty() && rule.paths.empty())) return true;
  const bool method =
      rule.methods.empty() || std::ranges::find(rule.methods, query.method) != rule.methods.end();
  return method && (rule.websocket || !query.websocket) && url_listed(rule.paths, query.path);
}

Effect decide_by_rules(const Network& network, const NetQuery& query, Effect otherwise) {
  std::size_t best = 0;
  for (const EgressRule& rule : network.egress_allowlist.items) {
    if (rule.port == query.port && host_matches(rule.host, query.host))
      best = std::max(best, rank(rule.host));
  }
  if (best == 0) return otherwise;
  for (const EgressRule& rule : network.egress_allowlist.items) {
    if (rule.port == query.port && host_matches(rule.host, query.host) && rank(rule.host) == best &&
        rule_allows(rule, query))
      return Effect::allow;
  }
  return Effect::deny;
}

// What happens to a host that no rule names.
Effect unlisted(const Network& network, NetworkMode mode, const NetQuery& query) {
  const auto address = ipv4_from(query.host);
  if (mode == NetworkMode::public_) {
    const bool open = !address || kind_of(*address) == AddressKind::public_;
    return open && (query.port == 443 || query.port == 80) ? Effect::allow : Effect::deny;
  }
  return network.ask && network.ask->value && !address ? Effect::ask : Effect::deny;
}

Effect decide(const PolicyDocument& document, const NetQuery& query) {
  const Network& network = document.network;
  const auto address = ipv4_from(query.host);
  if (!address && !is_canonical_name(query.host)) return Effect::deny;
  const bool names_something = (network.ask && network.ask->value) ||
                               !network.egress_allowlist.items.empty() ||
                               !network.host_ports.items.empty();
  const NetworkMode mode = network.mode      ? network.mode->value
                           : names_something ? NetworkMode::restricted
                                             : NetworkMode::none;
  if (mode == NetworkMode::none) return Effect::deny;
  if (query.host == "host.cordon.internal") {
    for (const Port& port : network.host_ports.items) {
      if (port.value == query.port) return Effect::allow;
    }
    return Effect::deny;
  }
  if (query.host == "localhost") return Effect::deny;
  if (address && kind_of(*address) == AddressKind::forbidden) return Effect::deny;
  for (const HostDenial& denial : network.egress_denylist.items) {
    if (host_matches(denial.host, query.host)) return Effect::deny;
  }
  return decide_by_rules(network, query, unlisted(network, mode, query));
}

bool holds(std::string_view tree, std::string_view path) {
  return path == tree || (path.starts_with(tree) && path[tree.size()] == '/');
}

bool covered(const std::vector<Stated<std::string>>& patterns, std::string_view path,
             std::string_view workspace) {
  return std::ranges::any_of(patterns, [&](const Stated<std::string>& pattern) {
    const std::string_view text = pattern.value;
    if (text.starts_with('/')) return naive::covers(text.substr(1), path.substr(1));
    if (text.starts_with("**/")) return naive::covers(text, path.substr(1));
    return path != workspace && holds(workspace, path) &&
           naive::covers(text, path.substr(workspace.size() + 1));
  });
}

struct Tree {
  std::string_view path;
  bool readable;
  bool writable;
};

std::vector<Tree> trees_of(const Filesystem& filesystem, std::string_view workspace) {
  std::vector<Tree> trees;
  trees.reserve(filesystem.host_mounts.items.size() + 13);
  for (const HostMount& mount : filesystem.host_mounts.items)
    trees.push_back({mount.target, true, mount.mode == Mode::read_write});
  trees.push_back(
      {workspace, true, !filesystem.mode || filesystem.mode->value == Mode::read_write});
  for (const char* const own : {"/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero",
                                "/dev/full", "/dev/tty", "/dev/pts", "/dev/ptmx"})
    trees.push_back({own, true, true});
  trees.push_back({"/dev", true, false});
  trees.push_back({"/proc", true, false});
  trees.push_back({"/sys", false, false});
  return trees;
}

Effect decide(const PolicyDocument& document, const PathQuery& query) {
  if (!is_normal_path(query.path)) return Effect::deny;
  const Filesystem& filesystem = document.filesystem;
  const std::string_view workspace =
      filesystem.workspace ? std::string_view{filesystem.workspace->value} : query.workspace;
  const bool write = query.access == Access::write;
  if (covered(filesystem.hide.items, query.path, workspace)) return Effect::deny;
  if (write && covered(filesystem.protect.items, query.path, workspace)) return Effect::deny;
  // The longest tree decides; of two at one place the first, a mount.
  const auto trees = trees_of(filesystem, workspace);
  const Tree* longest = nullptr;
  for (const Tree& tree : trees) {
    if (holds(tree.path, query.path) &&
        (longest == nullptr || tree.path.size() > longest->path.size()))
      longest = &tree;
  }
  if (longest != nullptr)
    return longest->readable && (!write || longest->writable) ? Effect::allow : Effect::deny;
  if (write) return Effect::deny;
  if (filesystem.root && filesystem.root->value.kind != RootKind::host) return Effect::allow;
  const auto shows = [&](std::string_view shown) { return holds(shown, query.path); };
  const auto lies_on_the_way = [&](std::string_view shown) {
    return query.path == "/" || holds(query.path, shown);
  };
  const bool shown = std::ranges::any_of(host_trees(), shows) ||
                     std::ranges::any_of(host_etc(), shows) ||
                     std::ranges::any_of(host_etc(), lies_on_the_way);
  return shown ? Effect::allow : Effect::deny;
}

}  // namespace model

std::array<long, 3> compare(std::uint64_t seed, int documents, int questions, auto&& draw) {
  Dice dice{seed};
  std::array<long, 3> effects{};
  for (int i = 0; i < documents; ++i) {
    const Policy policy = random::random_policy(dice);
    const PolicyDocument& document = policy.documents().front()->document();
    for (int j = 0; j < questions; ++j) {
      const auto query = draw(dice);
      const Effect expected = model::decide(document, query);
      ++effects[static_cast<std::size_t>(expected)];
      const Effect found = policy.decide(query).effect;
      if (found == expected) continue;
      ADD_FAILURE() << random::to_string(query) << ": " << to_string(found) << ", the model says "
                    << to_string(expected);
      return effects;
    }
  }
  return effects;
}

TEST(PlainModel, AgreesOnTwoHundredThousandConnections) {
  const auto [deny, ask, allow] = compare(11, 400, 500, random::random_net);
  EXPECT_GE(deny + ask + allow, 200'000);
  EXPECT_GE(deny, 10'000);
  EXPECT_GE(ask, 10'000);
  EXPECT_GE(allow, 10'000);
}

TEST(PlainModel, AgreesOnTwoHundredThousandPaths) {
  const auto [deny, ask, allow] = compare(12, 400, 500, random::random_path);
  EXPECT_GE(deny + allow, 200'000);
  EXPECT_EQ(ask, 0);
  EXPECT_GE(deny, 10'000);
  EXPECT_GE(allow, 10'000);
}

}  // namespace
}  // namespace cordon::policy
