// SPDX-License-Identifier: Apache-2.0
// What the operator of a node has decided: where it listens, what it may use, how much of it whom.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/listening.h"
#include "gate/quota.h"
#include "policy/problem.h"

namespace cordon::node {

using gate::Quota;
using gate::TcpAddress;

struct Tenant {
  Quota quota;
  std::string ceiling;  // the file of a policy that its requests are narrowed by; empty: the node's
  friend bool operator==(const Tenant&, const Tenant&) = default;
};

// Of whole trees, in and out.
struct Transfers {
  std::uint64_t at_once = 8;
  std::uint64_t entries = 100'000;                // of one
  std::uint64_t bytes = std::uint64_t{4} << 30U;  // of its files
  friend bool operator==(const Transfers&, const Transfers&) = default;
};

// Of what tenants have built on the node.
struct TemplateSettings {
  std::uint64_t most = 50;                         // builds that are kept of each tenant
  std::uint64_t memory = std::uint64_t{2} << 30U;  // of a sandbox in which one is built
  std::uint64_t disk = std::uint64_t{1} << 30U;    // for all that its steps write
  std::vector<std::string> egress_allowlist;       // what such a sandbox reaches; none: nothing
  friend bool operator==(const TemplateSettings&, const TemplateSettings&) = default;
};

// When what a record of the audit log tells of may happen.
enum class AuditDurability : std::uint8_t {
  group,   // when the kernel has the record: it survives the death of any process
  strict,  // when the disk has it
};

struct AuditSettings {
  AuditDurability durability = AuditDurability::group;
  std::chrono::milliseconds every{50};  // that the disk is asked, where there is something new
  std::uint64_t head_records = 10'000;  // after so many, or
  std::chrono::seconds head_every{10};  // after so long, a head is signed
  std::uint64_t keep_days = 0;          // of records; 0: for ever
  // Of what happens inside, of one sandbox: what is more is counted.
  std::uint64_t events_per_second = 10'000;
  friend bool operator==(const AuditSettings&, const AuditSettings&) = default;
};

// What it is in a fleet.
struct FleetPlace {
  std::uint16_t cell = 0;
  std::uint32_t node = 0;
  std::uint64_t slots = 0;  // sandboxes that it takes
  friend bool operator==(const FleetPlace&, const FleetPlace&) = default;
};

struct Settings {
  std::string name = "node";                      // the audience of its tokens
  std::string state = "/var/lib/cordon";          // its own directory: journal and log
  std::string launcher = "/run/cordon/launcher";  // the launcher's socket
  std::string unix_socket = "/run/cordond/cordond.sock";
  std::optional<TcpAddress> tcp;
  std::string certificate;  // PEM, with `key`: TCP speaks TLS
  std::string key;
  std::vector<std::string> origins;           // of pages that may open a WebSocket
  std::string client_authority;               // PEM: clients show a certificate of it
  std::string token_key;                      // the file of the key that its tokens are made with
  std::string ceiling;                        // the file of the site's policy; empty: the default
  std::map<std::string, std::string> images;  // their directories, by name
  std::string default_image;
  std::string image_store;  // where further images are; empty: there are none
  Quota quota;              // of each tenant that has none of its own
  std::map<std::string, Tenant> tenants;
  Transfers transfers;
  TemplateSettings templates;
  AuditSettings audit;
  std::optional<FleetPlace> fleet;  // nothing: it is a node by itself
  friend bool operator==(const Settings&, const Settings&) = default;
};

// TOML. All that is wrong goes to `problems`, each with its line, what is allowed and what was
// probably meant; nothing is read that is not understood. Files that it names are not looked at.
Result<Settings> read_settings(std::string_view text, policy::Problems& problems);

}  // namespace cordon::node
