// SPDX-License-Identifier: Apache-2.0
// What cordon-egress is told, and what it tells: by its launcher, which hands it the sockets of
// sandboxes, and by its node, which says what they may reach. One message each over SOCK_SEQPACKET
// sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestEgressMessage = std::size_t{200} << 10U;

// --- from the launcher

// Beside it two descriptors: the listener of TCP and the socket of DNS. Answered by Holding. They
// are served when the node has said what the sandbox may reach, and not before.
struct Listen {
  std::string id;
  CORDON_FIELDS(Listen, self.id);
};

// Closes all that belongs to the sandbox. Answered by Forgotten, also where there was nothing.
struct Forget {
  std::string id;
  CORDON_FIELDS(Forget, self.id);
};

// --- to the launcher

struct Holding {
  std::string id;
  CORDON_FIELDS(Holding, self.id);
};
struct Forgotten {
  std::string id;
  CORDON_FIELDS(Forgotten, self.id);
};

// --- from the node: a policy as far as the network is concerned. The values are those of
// policy/document.h; here they only travel.

struct RulePlace {
  std::uint32_t source = 0;  // into NetDocument::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  CORDON_FIELDS(RulePlace, self.source, self.line, self.column);
};

struct NetRule {
  std::string host;  // "api.example.com", "*.example.com", "192.0.2.7"
  std::uint16_t port = 443;
  std::uint8_t protocol = 0;   // of policy::Protocol
  std::uint8_t addresses = 0;  // of policy::Addresses
  bool websocket = false;
  std::vector<std::string> methods;
  std::vector<std::string> paths;
  RulePlace place;
  CORDON_FIELDS(NetRule, self.host, self.port, self.protocol, self.addresses, self.websocket,
                self.methods, self.paths, self.place);
};

struct NetDenial {
  std::string host;
  RulePlace place;
  CORDON_FIELDS(NetDenial, self.host, self.place);
};

struct NetPort {
  std::uint16_t port = 0;
  RulePlace place;
  CORDON_FIELDS(NetPort, self.port, self.place);
};

// A credential that may go to a host; who holds it is asked for each request.
struct NetGrant {
  std::string name;
  std::string host;
  std::string header;
  std::vector<std::string> methods;
  std::vector<std::string> paths;
  RulePlace place;
  CORDON_FIELDS(NetGrant, self.name, self.host, self.header, self.methods, self.paths, self.place);
};

struct NetFile {
  std::string name;         // for messages
  std::uint8_t origin = 0;  // of policy::Origin
  CORDON_FIELDS(NetFile, self.name, self.origin);
};

struct NetDocument {
  std::uint8_t origin = 0;           // of policy::Origin
  std::vector<NetFile> files;        // the first is the document's own
  std::optional<std::uint8_t> mode;  // of policy::NetworkMode
  RulePlace mode_place;
  std::optional<RulePlace> allow_place;
  std::vector<NetRule> allow;
  std::vector<NetDenial> deny;
  std::optional<bool> ask;
  RulePlace ask_place;
  std::optional<RulePlace> host_ports_place;
  std::vector<NetPort> host_ports;
  bool no_credentials = false;  // the grants of others are off
  std::vector<NetGrant> grants;
  CORDON_FIELDS(NetDocument, self.origin, self.files, self.mode, self.mode_place, self.allow_place,
                self.allow, self.deny, self.ask, self.ask_place, self.host_ports_place,
                self.host_ports, self.no_credentials, self.grants);
};

struct NetBudgets {
  std::optional<std::uint64_t> bytes, requests_per_minute, connections, bandwidth;
  // Where they are written: "cordon.toml:7". Empty: nowhere that a person could look.
  std::string bytes_rule, requests_rule, connections_rule;
  CORDON_FIELDS(NetBudgets, self.bytes, self.requests_per_minute, self.connections, self.bandwidth,
                self.bytes_rule, self.requests_rule, self.connections_rule);
};

// What a sandbox may reach, from now on: connections that it no longer allows are closed before the
// answer is sent, which is Serving or NotServed with the same generation. After NotServed the
// sandbox reaches nothing. Sent again after a death of cordon-egress.
struct Serve {
  std::string id;
  std::vector<NetDocument> documents;
  NetBudgets budgets;
  bool secret_scanning = false;
  std::uint64_t generation = 0;  // whichever number: the answer has it too
  CORDON_FIELDS(Serve, self.id, self.documents, self.budgets, self.secret_scanning,
                self.generation);
};

// Beside it one descriptor: a socket to the cordon-broker that holds the credentials of this
// tenant's sandboxes. Answered by UsingBroker, or by NotServed without an id.
struct UseBroker {
  CORDON_FIELDS(UseBroker, );
};

// --- to the node

struct UsingBroker {
  CORDON_FIELDS(UsingBroker, );
};

struct Serving {
  std::string id;
  std::string certificate;  // PEM, of the sandbox's own authority; empty where nothing needs it
  std::uint64_t generation = 0;
  CORDON_FIELDS(Serving, self.id, self.certificate, self.generation);
};

struct NotServed {
  std::string id;
  std::string text;
  std::uint64_t generation = 0;
  CORDON_FIELDS(NotServed, self.id, self.text, self.generation);
};

// Something was refused. Told once for each thing that is alike in `code` and `tried`, then again
// with what was counted since.
struct NetRefused {
  std::string id;
  std::string code;   // stable, "CORDON-NET-HOST"
  std::string tried;  // "connect evil.example:443"
  std::string resolved;
  std::string rule;
  std::string why;
  std::string fix;
  std::string action;
  std::uint64_t count = 1;
  CORDON_FIELDS(NetRefused, self.id, self.code, self.tried, self.resolved, self.rule, self.why,
                self.fix, self.action, self.count);
};

// A connection is about to be opened, or has ended.
struct NetUsed {
  std::string id;
  std::string host;
  std::uint16_t port = 0;
  std::string address;  // that was dialled
  std::string method;   // of a request that was judged by itself
  std::string path;
  std::uint32_t status = 0;  // of its answer
  bool ended = false;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  CORDON_FIELDS(NetUsed, self.id, self.host, self.port, self.address, self.method, self.path,
                self.status, self.ended, self.bytes_out, self.bytes_in);
};
inline constexpr std::size_t kMostUsesInMessage = 64;  // of texts that were cut, it fits

struct NetUses {
  std::vector<NetUsed> uses;  // as they happened
  CORDON_FIELDS(NetUses, self.uses);
};

// How many bytes the sandbox has sent in all, told now and then while it sends.
struct NetSent {
  std::string id;
  std::uint64_t bytes = 0;
  CORDON_FIELDS(NetSent, self.id, self.bytes);
};

using LauncherToEgress = std::variant<Listen, Forget>;
using EgressToLauncher = std::variant<Holding, Forgotten>;
using NodeToEgress = std::variant<Serve, UseBroker>;
using EgressToNode = std::variant<Serving, NotServed, NetRefused, NetUses, UsingBroker, NetSent>;

std::vector<std::byte> encode(const LauncherToEgress& message);
std::vector<std::byte> encode(const EgressToLauncher& message);
std::vector<std::byte> encode(const NodeToEgress& message);
std::vector<std::byte> encode(const EgressToNode& message);
Result<LauncherToEgress> decode_launcher_to_egress(std::span<const std::byte> bytes);
Result<EgressToLauncher> decode_egress_to_launcher(std::span<const std::byte> bytes);
Result<NodeToEgress> decode_node_to_egress(std::span<const std::byte> bytes);
Result<EgressToNode> decode_egress_to_node(std::span<const std::byte> bytes);

}  // namespace cordon::frame
