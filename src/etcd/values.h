// SPDX-License-Identifier: Apache-2.0
// What is said to etcd and what it says, as plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cordon::etcd {

// Counts every change that the cluster has made.
using Revision = std::int64_t;

// NOLINTNEXTLINE(performance-enum-size): etcd's numbers are of this size
enum class LeaseId : std::int64_t { none = 0 };

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision = 0;
  Revision mod_revision = 0;  // of the last change; 0 stands for a key that is not there
  LeaseId lease = LeaseId::none;
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// From `first` on and before `end`; without an end it is the one key.
struct KeyRange {
  std::string first;
  std::string end;
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};
inline KeyRange only(std::string key) { return {.first = std::move(key), .end = {}}; }
// All keys that begin with `prefix`, which is not empty.
KeyRange below(std::string prefix);

// Where an answer comes from. Another cluster's revisions count another history.
struct Origin {
  std::uint64_t cluster = 0;
  std::uint64_t member = 0;
  Revision revision = 0;  // the cluster's, when it answered
};

struct Range {
  KeyRange keys;
  std::int64_t limit = 0;  // 0: all
  Revision at = 0;         // 0: now
};
struct Put {
  std::string key;
  std::string value;
  LeaseId lease = LeaseId::none;
};
struct Remove {
  KeyRange keys;
};
using Operation = std::variant<Range, Put, Remove>;

// A condition of a transaction.
struct Compare {
  enum class Relation : std::uint8_t { equal, greater, less, not_equal };
  struct Version {
    std::int64_t number = 0;
  };
  struct CreateRevision {
    Revision number = 0;
  };
  struct ModRevision {
    Revision number = 0;
  };
  struct Value {
    std::string bytes;
  };
  std::string key;
  Relation is = Relation::equal;
  std::variant<Version, CreateRevision, ModRevision, Value, LeaseId> than;
};

// All of `then` where every condition holds, else all of `otherwise`: in one step.
struct Txn {
  std::vector<Compare> when;
  std::vector<Operation> then;
  std::vector<Operation> otherwise;
};

struct Found {
  Origin origin;
  std::vector<KeyValue> values;  // in the order of their keys
  bool more = false;             // `limit` has cut it
};
struct Written {
  Origin origin;
};
struct Removed {
  Origin origin;
  std::int64_t count = 0;
};
struct Decided {
  Origin origin;
  bool held = false;  // the conditions did
  std::vector<std::variant<Found, Written, Removed>> answers;
};
struct Granted {
  Origin origin;
  LeaseId id = LeaseId::none;
  std::chrono::seconds ttl{};  // 0 from a keep-alive: there is no such lease (any more)
};

struct Event {
  enum class Kind : std::uint8_t { put, removed };
  Kind kind = Kind::put;
  KeyValue now;  // of a key that was removed: its name and the revision at which it went
  friend bool operator==(const Event&, const Event&) = default;
};

// One message of a watch.
struct WatchMessage {
  Origin origin;
  bool created = false;
  bool cancelled = false;
  bool part = false;       // the rest of these revisions is in the next message
  Revision compacted = 0;  // what was asked for is gone up to here
  std::string reason;      // of `cancelled`
  std::vector<Event> events;
};

}  // namespace cordon::etcd
