// SPDX-License-Identifier: Apache-2.0
// A policy as written: typed, every rule with its place. Made by parse(); it decides nothing until
// it is checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/host.h"
#include "policy/keys.h"
#include "policy/place.h"
#include "policy/value.h"
#include "record/isolation.h"

namespace cordon::policy {

// A list together with the place of its key. Absent and empty are different things: to a workspace
// file an absent list says nothing, an empty one allows nothing.
template <class T>
struct Listed {
  std::optional<Place> place;
  std::vector<T> items;
  friend bool operator==(const Listed&, const Listed&) = default;
};

template <class T>
using Maybe = std::optional<Stated<T>>;

enum class Mode : std::uint8_t { read_only, read_write };
enum class NetworkMode : std::uint8_t { none, restricted, public_ };
enum class Protocol : std::uint8_t { tls, http, tcp };
enum class Addresses : std::uint8_t { public_, private_ };
// In the order of what they let processes be: the lesser of two is what both allow.
enum class User : std::uint8_t { user, root, either };
enum class CredentialMode : std::uint8_t { none, just_in_time };
enum class Profile : std::uint8_t { compat, strict };  // ordered: the stricter compares greater
enum class RootKind : std::uint8_t { host, dir, image };
enum class SecretSource : std::uint8_t { env, file, cmd, secret };
enum class Effect : std::uint8_t {
  deny,
  ask,
  allow
};  // ordered: the meet of several is their minimum

std::string_view to_string(Mode mode) noexcept;
std::string_view to_string(NetworkMode mode) noexcept;
std::string_view to_string(Protocol protocol) noexcept;
std::string_view to_string(User user) noexcept;
std::string_view to_string(Profile profile) noexcept;
std::string_view to_string(RootKind kind) noexcept;
std::string_view to_string(SecretSource source) noexcept;
std::string_view to_string(Effect effect) noexcept;

struct Root {
  RootKind kind = RootKind::host;
  std::string name;  // of the image, or the directory's path on the host
  friend bool operator==(const Root&, const Root&) = default;
};

struct HostMount {
  std::string source;  // on the host: absolute, or below "~"
  std::string target;  // inside
  Mode mode = Mode::read_only;
  std::string why;
  Place place;
  friend bool operator==(const HostMount&, const HostMount&) = default;
};

struct Filesystem {
  Maybe<Root> root;
  Maybe<std::string> workspace;
  Maybe<Mode> mode;
  Listed<HostMount> host_mounts;
  Listed<Stated<std::string>> hide;
  Listed<Stated<std::string>> protect;
  Maybe<bool> review;
  friend bool operator==(const Filesystem&, const Filesystem&) = default;
};

struct Variable {
  std::string name;
  std::string value;
  Place place;
  friend bool operator==(const Variable&, const Variable&) = default;
};

struct Environment {
  Listed<Stated<std::string>> pass;
  Listed<Variable> set;
  friend bool operator==(const Environment&, const Environment&) = default;
};

struct Process {
  Maybe<User> user;
  Listed<Stated<std::string>> capabilities;
  friend bool operator==(const Process&, const Process&) = default;
};

struct EgressRule {
  std::string registry;  // "@npm": host is empty until check() has looked it up
  HostPattern host;
  std::uint16_t port = 443;
  Protocol protocol = Protocol::tls;
  std::vector<std::string> methods;  // empty: all
  std::vector<std::string> paths;    // empty: all
  bool websocket = false;
  Addresses addresses = Addresses::public_;
  std::string why;
  Place place;
  friend bool operator==(const EgressRule&, const EgressRule&) = default;
};

struct HostDenial {
  HostPattern host;
  Place place;
  friend bool operator==(const HostDenial&, const HostDenial&) = default;
};

using Port = Stated<std::uint16_t>;
// Where every port is meant.
inline constexpr std::uint16_t kAnyPort = 0;

struct Network {
  Maybe<NetworkMode> mode;
  Listed<EgressRule> egress_allowlist;
  Listed<HostDenial> egress_denylist;
  Maybe<bool> ask;
  Listed<Port> ingress;  // empty: deny_all; with kAnyPort: every_port
  Listed<Port> host_ports;
  Maybe<std::uint64_t> requests_per_minute;
  Maybe<std::uint64_t> connections;
  Maybe<std::uint64_t> bandwidth;
  friend bool operator==(const Network&, const Network&) = default;
};

struct Resources {
  Maybe<std::uint64_t> milli_cpus;
  Maybe<std::uint64_t> memory;
  Maybe<std::uint64_t> pids;
  Maybe<std::uint64_t> disk;
  Maybe<std::uint64_t> inodes;
  Maybe<std::uint64_t> open_files;
  Maybe<std::uint64_t> io;
  Maybe<std::uint64_t> wall_seconds;
  Maybe<std::uint64_t> cpu_seconds;
  Maybe<std::uint64_t> output;
  Maybe<std::uint64_t> egress;
  friend bool operator==(const Resources&, const Resources&) = default;
};

struct Grant {
  std::string name;
  std::string env;
  SecretSource source = SecretSource::secret;
  std::string from;  // what follows "env:", "file:", "cmd:" or "secret:"
  HostPattern host;
  std::string header;
  std::vector<std::string> methods;
  std::vector<std::string> paths;
  std::uint64_t ttl_seconds = 900;
  Place place;
  friend bool operator==(const Grant&, const Grant&) = default;
};

struct Credentials {
  Maybe<CredentialMode> mode;
  Maybe<bool> secret_scanning;
  Listed<Grant> grants;
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

struct Output {
  Listed<Stated<std::string>> scan;
  Maybe<std::string> on_finding;
  friend bool operator==(const Output&, const Output&) = default;
};

struct Response {
  std::string when;
  std::uint64_t more_than = 0;
  std::uint64_t within_seconds = 60;
  std::string then;
  Place place;
  friend bool operator==(const Response&, const Response&) = default;
};

struct ToolRule {
  std::string tool;  // a glob
  Effect effect = Effect::deny;
  std::string arguments;  // JSON Schema as JSON text; empty: any arguments
  std::optional<std::uint64_t> calls_per_minute;
  std::string why;
  Place place;
  friend bool operator==(const ToolRule&, const ToolRule&) = default;
};

struct ToolServer {
  std::string name;
  std::vector<ToolRule> rules;  // of allow, deny and rules alike
  Place place;
  friend bool operator==(const ToolServer&, const ToolServer&) = default;
};

struct Requirement {
  std::string name;  // "seccomp", "landlock", "cgroup", …
  int least = 0;     // for landlock: the ABI
  Place place;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// A key that the document states, for what is said about the document as a whole.
struct StatedKey {
  const Key* key = nullptr;  // in the table of keys.h
  bool neutral = false;      // its value asks for nothing
  Place place;
  friend bool operator==(const StatedKey&, const StatedKey&) = default;
};

// A document as JSON, as its author stated it: for whoever has to make the same of it elsewhere.
// Empty: it was not parsed. What is said twice is equal, however it was written.
struct Written {
  std::string json;
  friend bool operator==(const Written&, const Written&) noexcept { return true; }
};

struct PolicyDocument {
  std::vector<Source> sources;  // never empty; 0 is the document's own file
  std::vector<Stated<std::string>> extends;
  Maybe<Isolation> isolation;
  std::vector<Requirement> require;
  Filesystem filesystem;
  Environment environment;
  Process process;
  Network network;
  Resources resources;
  Credentials credentials;
  Maybe<Profile> profile;
  Listed<Stated<std::string>> record;
  Output output;
  std::vector<Response> responses;
  std::vector<ToolServer> tools;
  std::vector<StatedKey> keys;
  Written written;
  friend bool operator==(const PolicyDocument&, const PolicyDocument&) = default;
};

// "cordon.toml:12"
std::string to_string(const PolicyDocument& document, Place place);

}  // namespace cordon::policy
