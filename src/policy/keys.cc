// SPDX-License-Identifier: Apache-2.0
#include "policy/keys.h"

#include <algorithm>
#include <array>

namespace cordon::policy {
namespace {

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * 1024;
constexpr std::int64_t kGi = kMi * 1024;
constexpr std::int64_t kTi = kGi * 1024;
constexpr std::string_view kMethods = "GET HEAD POST PUT PATCH DELETE OPTIONS";
constexpr std::string_view kNow = CORDON_VERSION;

// A key that this version enforces.
constexpr Key held(Key key) {
  key.enforced = kNow;
  return key;
}

// A key is held only once a version really does it: launch refuses a stated key that nothing
// enforces.
constexpr Key kKeys[] = {
    held({"$schema", Kind::text, "where an editor finds the JSON Schema; ignored"}),
    held({"version", Kind::integer, "version of this vocabulary", {}, 1, 1}),
    held({"extends", Kind::texts, "presets whose rules this document starts from"}),
    held({"isolation", Kind::choice, "the wall: process, gvisor or microvm",
          "process gvisor microvm", 0, 0, "process"}),
    held({"require",
          Kind::texts,
          "refuse to start where one of these cannot be held",
          {},
          0,
          0,
          "[]"}),

    {"filesystem", Kind::table, "what is visible and what is writable"},
    held({"filesystem.root", Kind::text, "the system tree: image:NAME, dir:PATH or host"}),
    held({"filesystem.workspace", Kind::text, "where the workspace appears inside"}),
    held({"filesystem.mode", Kind::choice, "whether the workspace may be written",
          "read_only read_write"}),
    held({"filesystem.host_mounts",
          Kind::tables,
          "files of the host that appear inside",
          {},
          0,
          0,
          "[]"}),
    held({"filesystem.host_mounts[].source", Kind::text,
          "path on the host; ~ is the caller's home"}),
    held({"filesystem.host_mounts[].target", Kind::text, "absolute path inside"}),
    held({"filesystem.host_mounts[].mode", Kind::choice, "whether it may be written",
          "read_only read_write"}),
    held({"filesystem.host_mounts[].why", Kind::text, "the reason, for the record"}),
    held({"filesystem.hide", Kind::texts, "names that must not be seen", {}, 0, 0, "[]"}),
    held({"filesystem.protect",
          Kind::texts,
          "names that may be read and never written",
          {},
          0,
          0,
          "[]"}),
    held({"filesystem.review",
          Kind::boolean,
          "writes land in an overlay until they are applied",
          {},
          0,
          0,
          "false"}),

    {"environment", Kind::table, "variables that the program sees"},
    held(
        {"environment.pass", Kind::texts, "names taken from the caller; a trailing * is a prefix"}),
    held({"environment.set", Kind::texts_by_name, "variables with fixed values", {}, 0, 0, "{}"}),

    {"process", Kind::table, "identity inside"},
    held({"process.user", Kind::choice,
          "an ordinary user, or id 0 inside without capabilities; "
          "`either`: an ordinary user, and id 0 for processes that ask for it",
          "user root either"}),
    held({"process.capabilities", Kind::choices,
          "capabilities over the sandbox's own user namespace",
          "chown dac_override fowner fsetid setuid setgid kill net_bind_service", 0, 0, "[]"}),

    {"network", Kind::table, "what can be reached"},
    held({"network.mode", Kind::choice, "nothing, the allow-list, or any public address",
          "none restricted public", 0, 0, "none"}),
    held({"network.egress_allowlist",
          Kind::text_or_tables,
          "hosts that may be reached",
          {},
          0,
          0,
          "[]"}),
    held({"network.egress_allowlist[].host", Kind::text,
          "a name, *.name, an IPv4 address, a block of them, or a registry such as @npm"}),
    held({"network.egress_allowlist[].port",
          Kind::integer,
          "the port; 443 by default",
          {},
          1,
          65535}),
    held({"network.egress_allowlist[].protocol", Kind::choice,
          "how the port speaks; needed but for 443 and 80", "tls http tcp"}),
    held({"network.egress_allowlist[].methods", Kind::choices, "HTTP methods; all where absent",
          kMethods}),
    held({"network.egress_allowlist[].paths", Kind::texts,
          "paths, with * and **; all where absent"}),
    held({"network.egress_allowlist[].websocket", Kind::boolean,
          "whether a judged connection may become a WebSocket"}),
    held({"network.egress_allowlist[].addresses", Kind::choice, "which addresses the name may have",
          "public private"}),
    held({"network.egress_allowlist[].why", Kind::text, "the reason, for the record"}),
    held({"network.egress_denylist",
          Kind::texts,
          "hosts that are refused whatever allows them; addresses by whatever name",
          {},
          0,
          0,
          "[]"}),
    held({"network.ask",
          Kind::boolean,
          "hold a connection to an unknown host and ask",
          {},
          0,
          0,
          "false"}),
    {"network.ingress", Kind::text_or_ports, "ports that the API may tunnel to",
     "deny_all every_port", 0, 0, "deny_all"},
    held({"network.host_ports",
          Kind::ports,
          "ports of the host's loopback, as host.cordon.internal",
          {},
          0,
          0,
          "[]"}),
    held({"network.requests_per_minute", Kind::integer, "requests a minute", {}, 1, 1'000'000}),
    held({"network.connections", Kind::integer, "connections at once", {}, 1, 100'000}),
    held({"network.bandwidth", Kind::size, "bytes a second, each way", {}, kKi, 100 * kGi}),

    {"resources", Kind::table, "limits"},
    held({"resources.cpu_limit", Kind::cpus, "processors"}),
    held({"resources.memory_limit", Kind::size, "memory", {}, kMi, 64 * kTi}),
    held({"resources.pids_limit", Kind::integer, "processes and threads", {}, 1, 4'194'304}),
    held({"resources.disk_limit",
          Kind::size,
          "bytes written to the sandbox's own disk",
          {},
          64 * kKi,
          1024 * kTi}),
    held({"resources.inodes_limit",
          Kind::integer,
          "files on the sandbox's own disk",
          {},
          16,
          4'000'000'000}),
    held({"resources.open_files", Kind::integer, "open files of a process", {}, 16, 1'048'576}),
    held({"resources.io_limit", Kind::size, "bytes a second to and from disk", {}, kKi, 100 * kGi}),
    held({"resources.timeout_seconds", Kind::integer, "wall time", {}, 1, 31'536'000}),
    held({"resources.cpu_seconds", Kind::integer, "processor time", {}, 1, 31'536'000}),
    held({"resources.output_limit",
          Kind::size,
          "bytes of standard output and error",
          {},
          kKi,
          64 * kTi}),
    held({"resources.egress_limit", Kind::size, "bytes sent to the network", {}, kKi, 64 * kTi}),

    {"credentials", Kind::table, "secrets that are used for the sandbox and never seen by it"},
    held({"credentials.mode", Kind::choice, "how grants are used", "none just_in_time", 0, 0,
          "none"}),
    held({"credentials.secret_scanning",
          Kind::boolean,
          "look for secrets in what leaves",
          {},
          0,
          0,
          "false"}),
    held({"credentials.grants",
          Kind::tables,
          "secrets, each bound to a host and a header",
          {},
          0,
          0,
          "[]"}),
    held({"credentials.grants[].name", Kind::text, "name of the grant"}),
    held({"credentials.grants[].env", Kind::text, "variable that holds the placeholder inside"}),
    held({"credentials.grants[].from", Kind::text,
          "env:NAME, file:PATH, cmd:COMMAND or secret:NAME"}),
    held({"credentials.grants[].host", Kind::text, "the one host it is sent to"}),
    held({"credentials.grants[].header", Kind::text, "the header, with {secret} in it"}),
    held({"credentials.grants[].methods", Kind::choices, "HTTP methods; all where absent",
          kMethods}),
    held({"credentials.grants[].paths", Kind::texts, "paths, with * and **; all where absent"}),
    held({"credentials.grants[].ttl_seconds", Kind::integer, "how long it lives", {}, 1, 86'400}),

    {"syscalls", Kind::table, "the system-call filter"},
    held({"syscalls.profile", Kind::choice, "strict, or compat for old and unusual programs",
          "strict compat"}),

    {"monitor", Kind::table, "what is recorded"},
    held({"monitor.record", Kind::choices, "classes of events", "exec writes connects sensitive", 0,
          0, "[]"}),

    {"output", Kind::table, "what is looked at before it leaves"},
    {"output.scan", Kind::choices, "what to look for", "secrets executables auto_exec", 0, 0, "[]"},
    {"output.on_finding", Kind::choice, "what to do with a finding", "quarantine block report"},

    held({"response", Kind::tables, "rights taken away at run time", {}, 0, 0, "[]"}),
    held({"response[].when", Kind::choice, "what is counted",
          "denials new_hosts bytes_out processes protected_writes"}),
    held({"response[].more_than",
          Kind::integer,
          "how many are tolerated",
          {},
          0,
          1'000'000'000'000}),
    held({"response[].within_seconds", Kind::integer, "in which time", {}, 1, 86'400}),
    held({"response[].then", Kind::choice, "what happens", "revoke_network freeze kill"}),

    {"tools", Kind::tables_by_name, "MCP servers by name"},
    {"tools.*.allow", Kind::texts, "tools that may be called; * stands for any characters"},
    {"tools.*.deny", Kind::texts, "tools that may not be called"},
    {"tools.*.rules", Kind::tables, "rules with conditions"},
    {"tools.*.rules[].tool", Kind::text, "the tool, or a pattern"},
    {"tools.*.rules[].effect", Kind::choice, "what happens when it holds", "allow ask deny"},
    {"tools.*.rules[].arguments", Kind::any,
     "JSON Schema that the arguments must satisfy for the rule to hold"},
    {"tools.*.rules[].calls_per_minute", Kind::integer, "calls a minute", {}, 1, 1'000'000},
    {"tools.*.rules[].why", Kind::text, "the reason, for the record"},
};

}  // namespace

std::span<const Key> all_keys() noexcept { return kKeys; }

const Key* find_key(std::string_view path) noexcept {
  const auto* const found = std::ranges::find(kKeys, path, &Key::path);
  return found == std::end(kKeys) ? nullptr : found;
}

bool is_child_of(const Key& key, std::string_view parent) noexcept {
  if (!key.path.starts_with(parent)) return false;
  std::string_view rest = key.path.substr(parent.size());
  if (!parent.empty()) {
    if (!rest.starts_with('.')) return false;
    rest.remove_prefix(1);
  }
  return !rest.empty() && rest.find('.') == std::string_view::npos;
}

std::string_view name_of(const Key& key) noexcept {
  const auto dot = key.path.rfind('.');
  return dot == std::string_view::npos ? key.path : key.path.substr(dot + 1);
}

std::vector<std::string_view> choices_of(const Key& key) {
  std::vector<std::string_view> all;
  for (std::string_view rest = key.choices; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    all.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

bool is_enforced(const Key& key) noexcept { return !key.enforced.empty(); }

}  // namespace cordon::policy
