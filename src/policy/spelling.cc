// SPDX-License-Identifier: Apache-2.0
#include "policy/spelling.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/text.h"

namespace cordon::policy {
namespace {

// Words of other tools' policies, and ours for the same thing.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"files", "filesystem"},
    {"fs", "filesystem"},
    {"net", "network"},
    {"limits", "resources"},
    {"env", "environment"},
    {"secrets", "credentials"},
    {"seccomp", "syscalls"},
    {"mounts", "host_mounts"},
    {"binds", "host_mounts"},
    {"lock", "protect"},
    {"deny_read", "hide"},
    {"deny_write", "protect"},
    {"allow", "egress_allowlist"},
    {"allowed", "egress_allowlist"},
    {"hosts", "egress_allowlist"},
    {"allowedDomains", "egress_allowlist"},
    {"deny", "egress_denylist"},
    {"memory", "memory_limit"},
    {"mem", "memory_limit"},
    {"cpu", "cpu_limit"},
    {"cpus", "cpu_limit"},
    {"pids", "pids_limit"},
    {"disk", "disk_limit"},
    {"timeout", "timeout_seconds"},
    {"time", "timeout_seconds"},
    {"fds", "open_files"},
    {"url", "host"},
    {"domain", "host"},
    {"reason", "why"},
    {"method", "methods"},
    {"path", "paths"},
    {"responses", "response"},
    {"tier", "isolation"},
    {"preset", "extends"},
    {"presets", "extends"},
    {"local", "host_ports"},
    {"listen", "ingress"},
    {"src", "source"},
    {"dst", "target"},
    {"ttl", "ttl_seconds"},
    {"read-only", "read_only"},
    {"ro", "read_only"},
    {"read-write", "read_write"},
    {"rw", "read_write"},
    {"action", "effect"},
    {"vm", "microvm"},
    {"firecracker", "microvm"},
    {"runsc", "gvisor"},
    {"container", "process"},
    {"namespace", "process"},
};

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const auto is_known = [&](std::string_view w) {
    return std::ranges::find(known, w) != known.end();
  };
  for (const auto& [theirs, ours] : kSynonyms) {
    if (word == theirs && is_known(ours)) return ours;
  }
  std::string_view best;
  if (word.size() > 64) return best;  // a longer one is no slip of the finger
  std::size_t least = std::max<std::size_t>(word.size(), 3) / 3 + 1;
  for (const std::string_view candidate : known) {
    if (const std::size_t d = distance(word, candidate); d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? std::string{} : "; did you mean " + in_quotes(meant) + "?";
}

}  // namespace cordon::policy
