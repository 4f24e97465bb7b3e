// SPDX-License-Identifier: Apache-2.0
// Questions to a policy, and its answers: small values. Deciding over paths, hosts, credentials,
// variables and ports allocates nothing; a tool rule with a condition reads the arguments, which
// does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/document.h"

namespace cordon::policy {

enum class Access : std::uint8_t { read, write, exec };
std::string_view to_string(Access access) noexcept;

// `path` is a path inside, in its one spelling (glob.h, is_normal_path); any other spelling is
// denied. `workspace`: where the caller bound the workspace, for documents that do not say it
// themselves.
struct PathQuery {
  Access access = Access::read;
  std::string_view path;
  std::string_view workspace = "/workspace";
};

// `host` in its one spelling (host.h). Without `method` the question is whether a connection may be
// opened at all.
struct NetQuery {
  std::string_view host;
  std::uint16_t port = 443;
  std::string_view method{};
  std::string_view path{};  // with a leading slash, without the query
  bool websocket = false;
};

// `arguments`: the call's arguments as JSON text; empty is `{}`.
struct ToolQuery {
  std::string_view server;
  std::string_view tool;
  std::string_view arguments{};
};

struct CredentialQuery {
  std::string_view grant;
  std::string_view host;
  std::string_view method;
  std::string_view path;
};

// Why a document decided as it did. The order has no meaning.
enum class Reason : std::uint8_t {
  no_opinion,  // a workspace file that does not speak about it
  // paths
  bad_path,
  hidden,
  protected_,
  too_many_patterns,
  absent_path,
  root_is_read_only,
  system_path,
  own_path,
  own_absent,
  own_read_only,
  workspace_path,
  workspace_is_read_only,
  mounted,
  mount_is_read_only,
  // network
  bad_host,
  network_off,
  host_not_listed,
  host_denied,
  host_asks,
  listed,
  public_host,
  private_address,
  port_not_listed,
  method_not_listed,
  unusual_path,
  url_path_not_listed,
  websocket_not_listed,
  host_port,
  host_port_not_listed,
  // tools
  server_not_listed,
  tool_not_listed,
  tool_rule,
  arguments_mismatch,
  arguments_unreadable,
  // credentials, environment, ingress
  no_grant,
  grant_host,
  grant_method,
  grant_path,
  granted,
  variable_passed,
  variable_set,
  variable_not_listed,
  ingress_port,
  ingress_not_listed,
};

// What was decided, by which document of the policy, by which of its rules. Small, and made without
// allocating.
struct Decision {
  Effect effect = Effect::deny;
  Reason reason = Reason::no_opinion;
  std::uint32_t document = 0;
  Place place;  // line 0: no rule, but the absence of one

  bool allowed() const noexcept { return effect == Effect::allow; }
};

// How a connection that is allowed must speak, and where its name may lead.
struct Passage {
  Protocol protocol = Protocol::tls;
  Addresses addresses = Addresses::public_;
  bool judged = false;     // each request is asked about: a rule names methods or paths, or a
                           // credential is bound to the host
  bool websocket = false;  // where requests are judged: a rule says that one may become a WebSocket

  friend bool operator==(const Passage&, const Passage&) = default;
};

// The smallest of each limit over all documents; nothing: unlimited.
struct Limits {
  std::optional<std::uint64_t> milli_cpus, memory, pids, disk, inodes, open_files, io, wall_seconds,
      cpu_seconds, output, egress, requests_per_minute, connections, bandwidth;
  friend bool operator==(const Limits&, const Limits&) = default;
};

// All that is not asked case by case.
struct Settings {
  Isolation isolation = Isolation::process;          // the strongest
  Profile profile = Profile::strict;                 // the strictest
  User user = User::user;                            // root only where all say so
  std::vector<std::string> capabilities;             // those that all grant
  std::vector<std::pair<std::string, int>> require;  // all, by name, the greatest number of each
  bool review = false;                               // where any says so
  bool secret_scanning = false;                      // where any says so
  Limits limits;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// Processes and threads where no document of the origin says a number: a fork bomb must not be the
// default.
inline constexpr std::uint64_t kDefaultPids = 1024;

}  // namespace cordon::policy
