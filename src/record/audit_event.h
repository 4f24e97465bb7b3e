// SPDX-License-Identifier: Apache-2.0
// What happened, as a closed variant: adding an alternative breaks every std::visit that forgets
// it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "record/denial.h"
#include "record/enforcement.h"
#include "record/isolation.h"
#include "record/verdict.h"

namespace cordon {

struct PolicyAccepted {
  std::string digest;
  friend bool operator==(const PolicyAccepted&, const PolicyAccepted&) = default;
};
// From here on a node holds new sandboxes against this release of its fleet's policy.
struct PolicyReleased {
  std::uint64_t number = 0;  // 0: against its own settings alone
  std::string sha256;        // of its text, in hex
  friend bool operator==(const PolicyReleased&, const PolicyReleased&) = default;
};
struct SandboxStarted {
  Isolation isolation = Isolation::process;
  Enforcement enforcement;
  friend bool operator==(const SandboxStarted&, const SandboxStarted&) = default;
};
struct ActRefused {
  Denial denial;
  friend bool operator==(const ActRefused&, const ActRefused&) = default;
};
// A connection that a policy allowed: when it was opened, or when it has ended.
struct NetworkUsed {
  std::string host;
  std::uint16_t port = 0;
  std::string address;  // that was dialled
  std::string method;   // of a request that was judged by itself; else empty
  std::string path;
  std::uint32_t status = 0;  // of its answer
  bool ended = false;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t count = 1;  // of more than one, what they have in common; bytes are those of all
  friend bool operator==(const NetworkUsed&, const NetworkUsed&) = default;
};
// A credential was asked for, for one request. Never the secret, nor anything made of it.
struct CredentialUsed {
  std::string grant;
  std::string host;
  std::string method;
  std::string path;
  std::string verdict;  // "given", or why not
  friend bool operator==(const CredentialUsed&, const CredentialUsed&) = default;
};
// A file, or an archive of a tree, that was read or written through the API.
struct FileMoved {
  std::string key;      // the id of the API key that was shown; empty: none was
  std::string request;  // as the client was told it
  bool is_tree = false;
  bool is_written = false;  // into the sandbox; else out of it
  std::string path;
  std::uint64_t offset = 0;  // in the file, of the first byte
  std::uint64_t bytes = 0;   // that went over; of an archive, its own
  std::string sha256;        // of these bytes, in hex
  bool is_whole = false;     // else it broke off, and of what was sent the client may have less
  friend bool operator==(const FileMoved&, const FileMoved&) = default;
};
// A request to the API that may change something, by one who may make it.
struct RequestBegun {
  std::string request;  // as the client was told it
  std::string call;     // method and route: "DELETE /v1/sandboxes/{id}"
  std::string key;      // the id of the API key that was shown; empty: none was
  std::string token;    // the revocation id of the token; empty: of the node's own socket
  friend bool operator==(const RequestBegun&, const RequestBegun&) = default;
};
// A program was executed inside. What these three say of paths and arguments is the process's own
// word, read when it was done.
struct ProgramStarted {
  std::uint32_t pid = 0;  // as it is seen inside, as are all of these
  std::uint32_t parent = 0;
  std::string program;
  std::vector<std::string> arguments;  // the first of them, some 1,000 bytes
  std::string directory;
  friend bool operator==(const ProgramStarted&, const ProgramStarted&) = default;
};
// A file inside was opened to be written, made, changed, renamed or removed; or one with the name
// of a secret was read.
struct FileTouched {
  std::uint32_t pid = 0;
  std::string command;  // the name of the thread
  std::string act;      // "write", "read", or the system call: "unlinkat"
  std::string path;
  std::string to;  // the other path of a call that has two
  friend bool operator==(const FileTouched&, const FileTouched&) = default;
};
// A connection was tried inside. What became of it outside, NetworkUsed tells.
struct ConnectTried {
  std::uint32_t pid = 0;
  std::string command;
  std::string address;  // "127.0.0.1", "unix:/run/x"
  std::uint16_t port = 0;
  std::string error;  // "ECONNREFUSED"; empty: it was made, or began
  friend bool operator==(const ConnectTried&, const ConnectTried&) = default;
};
// A call of a tool went to an MCP server that is wrapped.
struct ToolCalled {
  std::string server;  // as [tools.NAME] calls it
  std::string tool;
  std::string arguments;  // their SHA-256 in hex, of their canonical JSON
  std::string rule;
  bool is_approved = false;  // by a person, this once
  friend bool operator==(const ToolCalled&, const ToolCalled&) = default;
};
// Something happened more often than the policy tolerates, and a right was taken away.
struct ResponseTaken {
  std::string when;  // what was counted: "denials"
  std::uint64_t reached = 0;
  std::uint64_t more_than = 0;
  std::uint64_t within_seconds = 0;
  std::string then;  // "revoke_network", "freeze", "kill"
  std::string rule;
  friend bool operator==(const ResponseTaken&, const ResponseTaken&) = default;
};
struct SandboxEnded {
  Verdict verdict;
  friend bool operator==(const SandboxEnded&, const SandboxEnded&) = default;
};

// A writer died in the middle of a record: its beginning was taken off the log again.
struct LogRecovered {
  std::uint64_t bytes = 0;
  std::string sha256;  // of them, in hex
  friend bool operator==(const LogRecovered&, const LogRecovered&) = default;
};
// Something happened that has no record of its own.
struct RecordsLost {
  std::string source;  // "egress", "monitor"
  std::uint64_t count = 0;
  std::string why;  // a sentence
  friend bool operator==(const RecordsLost&, const RecordsLost&) = default;
};
// Records older than they are kept: gone, but for their hashes.
struct RecordsDropped {
  std::uint64_t end = 0;  // all before this number
  friend bool operator==(const RecordsDropped&, const RecordsDropped&) = default;
};

using AuditEvent =
    std::variant<PolicyAccepted, SandboxStarted, ActRefused, NetworkUsed, CredentialUsed, FileMoved,
                 RequestBegun, ProgramStarted, FileTouched, ConnectTried, ToolCalled, ResponseTaken,
                 SandboxEnded, LogRecovered, RecordsLost, RecordsDropped, PolicyReleased>;

}  // namespace cordon
