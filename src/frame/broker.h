// SPDX-License-Identifier: Apache-2.0
// What cordon-broker hears and says: one message each over SOCK_SEQPACKET sockets, one to the owner
// of the secrets (the node), one to each cordon-egress. A message that does not decode ends its
// socket.
//
// Secrets are seen, never copied here: a decoded message points into the bytes that it was read
// from, and a message with a secret in it is written into memory of the caller's choosing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestSecret = std::size_t{64} << 10U;
// Of a header's value, the secret in it as often as its template says.
inline constexpr std::size_t kLongestHeaderValue = std::size_t{64} << 10U;
// Names, hosts, methods, templates, texts.
inline constexpr std::size_t kLongestBrokerText = 1024;
// As long as the longest path that a policy judges.
inline constexpr std::size_t kLongestBrokerPath = 8192;
inline constexpr std::size_t kMostBrokerItems = 64;  // methods, patterns
inline constexpr std::size_t kLongestBrokerMessage = std::size_t{160} << 10U;

// Bytes of somebody else's. Compared by content; shown nowhere.
struct SecretView {
  std::span<const std::byte> bytes;
  friend bool operator==(SecretView one, SecretView two) noexcept;
};

// --- from the owner

// One grant for one sandbox: what may be done with the secret, and the secret. Replaces a grant of
// the same sandbox and name. Answered by GrantBound or GrantRefused.
struct BindGrant {
  std::string sandbox;
  std::string tenant;
  std::string grant;
  std::string placeholder;
  std::string host;
  std::uint16_t port = 443;
  std::vector<std::string> methods;  // empty: all
  std::vector<std::string> paths;    // patterns; empty: all
  std::string header;                // "Authorization: Bearer {secret}"
  std::uint64_t ttl_seconds = 900;   // from the moment it is read
  std::optional<std::uint32_t> requests_per_minute;
  // One of three:
  std::string stored;        // the name of a secret that the broker keeps for the tenant
  std::uint64_t ticket = 0;  // not 0: of a source that was read for `host` (SourceRead); used up
  SecretView secret;         // the secret itself. The last field: see encode_into
  CORDON_FIELDS(BindGrant, self.sandbox, self.tenant, self.grant, self.placeholder, self.host,
                self.port, self.methods, self.paths, self.header, self.ttl_seconds,
                self.requests_per_minute, self.stored, self.ticket, self.secret);
};

// A secret that outlives the broker. Replaces one of that name, whose grants end: who needs them
// binds them anew. Answered by SecretKept or GrantRefused.
struct KeepSecret {
  std::string tenant;
  std::string name;
  SecretView secret;  // the last field: see encode_into
  CORDON_FIELDS(KeepSecret, self.tenant, self.name, self.secret);
};

// Its grants end with it. Answered by SecretDropped or GrantRefused.
struct DropSecret {
  std::string tenant;
  std::string name;
  CORDON_FIELDS(DropSecret, self.tenant, self.name);
};

// Answered by SecretNames: those behind `after`, as many as fit.
struct ListSecrets {
  std::string tenant;
  std::string after;
  CORDON_FIELDS(ListSecrets, self.tenant, self.after);
};

// All that the fields which are not empty name: a sandbox, one of its grants, or a tenant. At least
// one is not empty, and a grant is named with its sandbox. Answered by GrantsRevoked.
struct RevokeGrants {
  std::string sandbox;
  std::string grant;
  std::string tenant;
  CORDON_FIELDS(RevokeGrants, self.sandbox, self.grant, self.tenant);
};

// Beside it one descriptor: the broker's end of a socket to an egress of `tenant`. Answered by
// EgressServed or GrantRefused.
struct ServeEgress {
  std::string tenant;
  CORDON_FIELDS(ServeEgress, self.tenant);
};

// --- to the owner

struct GrantBound {
  std::string sandbox;
  std::string grant;
  CORDON_FIELDS(GrantBound, self.sandbox, self.grant);
};

struct GrantsRevoked {
  std::uint32_t count = 0;  // of those that were still good
  CORDON_FIELDS(GrantsRevoked, self.count);
};

struct SecretKept {
  std::string name;
  std::uint32_t revoked = 0;  // grants of the one that it replaces
  CORDON_FIELDS(SecretKept, self.name, self.revoked);
};

struct SecretDropped {
  std::string name;
  bool was_there = false;
  std::uint32_t revoked = 0;
  CORDON_FIELDS(SecretDropped, self.name, self.was_there, self.revoked);
};

// Never what they are. kMostBrokerItems of them: there may be more.
struct SecretNames {
  std::vector<std::string> names;
  CORDON_FIELDS(SecretNames, self.names);
};

struct EgressServed {
  std::string tenant;
  CORDON_FIELDS(EgressServed, self.tenant);
};

// Nothing was done. `code`: "malformed", "exists", "exhausted", "not_found", "unavailable",
// "denied", and "pending": the ticket's source has not been read yet, ask again. `grant` is the
// secret's name where a secret was the matter.
struct GrantRefused {
  std::string sandbox;
  std::string grant;
  std::string code;
  std::string text;
  CORDON_FIELDS(GrantRefused, self.sandbox, self.grant, self.code, self.text);
};

enum class SecretVerdict : std::uint8_t {
  given,
  cred_unknown,  // no such grant; also another tenant's, which must not be told apart
  cred_scope,    // host, port, method or path is not the grant's
  cred_expired,
  cred_revoked,
  cred_rate,
  cred_unrecorded,  // the owner takes no records: what cannot be recorded is not done
};
constexpr SecretVerdict last_of(SecretVerdict) noexcept { return SecretVerdict::cred_unrecorded; }
std::string_view to_string(SecretVerdict verdict) noexcept;  // "given", "cred_scope", ...

// One question of an egress and its answer; said before the answer is.
struct GrantUsed {
  std::string sandbox;
  std::string grant;
  std::string host;
  std::string method;
  std::string path;
  SecretVerdict verdict = SecretVerdict::given;
  CORDON_FIELDS(GrantUsed, self.sandbox, self.grant, self.host, self.method, self.path,
                self.verdict);
};

// --- from an egress

// The header of `grant` for one request. Answered by SecretGiven or NoSecret with its number.
struct AskSecret {
  std::uint64_t number = 0;
  std::string sandbox;
  std::string grant;
  std::string host;
  std::uint16_t port = 443;
  std::string method;
  std::string path;  // without the query
  CORDON_FIELDS(AskSecret, self.number, self.sandbox, self.grant, self.host, self.port, self.method,
                self.path);
};

// --- to an egress

struct SecretGiven {
  std::uint64_t number = 0;
  std::string header;
  // Where in `value` the secret itself lies, so that its reflection is known by it alone.
  std::uint32_t secret_offset = 0;
  std::uint32_t secret_size = 0;
  SecretView value;  // the last field: see encode_into
  CORDON_FIELDS(SecretGiven, self.number, self.header, self.secret_offset, self.secret_size,
                self.value);
};

struct NoSecret {
  std::uint64_t number = 0;
  SecretVerdict code = SecretVerdict::cred_unknown;  // never `given`
  std::string text;
  CORDON_FIELDS(NoSecret, self.number, self.code, self.text);
};

// Unasked: requests that carry the grant's secret, and tunnels that they opened, end now.
struct GrantRevoked {
  std::string sandbox;
  std::string grant;
  CORDON_FIELDS(GrantRevoked, self.sandbox, self.grant);
};

// --- one who reads a source (cordon-broker --source)

// What it is started for, by the launcher.
struct SourceTask {
  std::uint64_t ticket = 0;
  std::string host;    // the only one that the secret may go to
  std::string source;  // "file:/PATH", as the floor has it
  CORDON_FIELDS(SourceTask, self.ticket, self.host, self.source);
};

// To the broker, over a socket of the launcher's making: nobody else has seen the secret.
struct SourceRead {
  std::uint64_t ticket = 0;
  std::string host;
  SecretView secret;  // the last field: see encode_into
  CORDON_FIELDS(SourceRead, self.ticket, self.host, self.secret);
};

struct SourceFailed {
  std::uint64_t ticket = 0;
  std::string text;
  CORDON_FIELDS(SourceFailed, self.ticket, self.text);
};

using OwnerToBroker =
    std::variant<BindGrant, RevokeGrants, ServeEgress, KeepSecret, DropSecret, ListSecrets>;
using BrokerToOwner = std::variant<GrantBound, GrantsRevoked, EgressServed, GrantRefused, GrantUsed,
                                   SecretKept, SecretDropped, SecretNames>;
using EgressToBroker = std::variant<AskSecret>;
using BrokerToEgress = std::variant<SecretGiven, NoSecret, GrantRevoked>;
using LauncherToSource = std::variant<SourceTask>;
using SourceToBroker = std::variant<SourceRead, SourceFailed>;

std::vector<std::byte> encode(const BrokerToOwner& message);
std::vector<std::byte> encode(const EgressToBroker& message);
std::vector<std::byte> encode(const LauncherToSource& message);
// These may carry a secret: written into `memory`, and a secret nowhere else. Gives the part that
// was filled; `exhausted` where it does not fit (kLongestBrokerMessage always does).
Result<std::span<std::byte>> encode_into(std::span<std::byte> memory, const OwnerToBroker& message);
Result<std::span<std::byte>> encode_into(std::span<std::byte> memory,
                                         const BrokerToEgress& message);
Result<std::span<std::byte>> encode_into(std::span<std::byte> memory,
                                         const SourceToBroker& message);

// Bounds hold afterwards, texts are UTF-8 without control characters, and a secret points into
// `bytes`. Errors never show what was read.
Result<OwnerToBroker> decode_owner_to_broker(std::span<const std::byte> bytes);
Result<BrokerToOwner> decode_broker_to_owner(std::span<const std::byte> bytes);
Result<EgressToBroker> decode_egress_to_broker(std::span<const std::byte> bytes);
Result<BrokerToEgress> decode_broker_to_egress(std::span<const std::byte> bytes);
Result<LauncherToSource> decode_launcher_to_source(std::span<const std::byte> bytes);
Result<SourceToBroker> decode_source_to_broker(std::span<const std::byte> bytes);

}  // namespace cordon::frame
