// SPDX-License-Identifier: Apache-2.0
#include "node/settings.h"

#include <fmt/format.h>

#include "policy/image_name.h"
#include "policy/keys.h"
#include "policy/section.h"
#include "policy/shape.h"
#include "policy/text.h"
#include "policy/value.h"
#include "token/caveat.h"
#include "token/key.h"
#include "token/sandbox_name.h"

namespace cordon::node {
namespace {

using gate::kLeastMemory;
using gate::kMostMemory;
using gate::kMostRate;
using gate::kMostRequests;
using gate::kMostSandboxes;
using gate::read_quota;
using gate::take_path;
using policy::Key;
using policy::Kind;
using policy::Section;

constexpr std::int64_t kMostTransfers = 1000;
constexpr std::int64_t kMostEntries = 1'000'000;
constexpr std::int64_t kMostBetween = 10'000;
constexpr std::int64_t kMostHeadRecords = 10'000'000;
constexpr std::int64_t kMostHeadSeconds = 86'400;
constexpr std::int64_t kMostDays = 36'500;
constexpr std::int64_t kMostEvents = 1'000'000;
constexpr std::int64_t kMostTemplates = 1'000;
constexpr std::int64_t kMostCell = 65'535;
constexpr std::int64_t kMostNode = 4'294'967'295;

constexpr Key kKeys[] = {
    {"name", Kind::text, "the audience of tokens for this node"},
    {"state", Kind::text, "the node's own directory"},
    {"launcher", Kind::text, "the launcher's socket"},
    {"token_key", Kind::text, "the file of the key that tokens are made with"},
    {"ceiling", Kind::text, "the file of the policy that bounds every request"},
    {"default_image", Kind::text, "the image of requests that name none"},
    {"image_store", Kind::text, "the directory that `cordon image` keeps images in"},

    {"listen", Kind::table, "where requests come in"},
    {"listen.unix", Kind::text, "the path of a Unix socket"},
    {"listen.tcp", Kind::text, "ADDRESS:PORT"},
    {"listen.certificate", Kind::text, "the file of a certificate and its chain"},
    {"listen.key", Kind::text, "the file of its key"},
    {"listen.client_authority", Kind::text, "the file of the authority of clients"},
    {"listen.origins", Kind::texts, "pages that may open a WebSocket"},

    {"images", Kind::tables_by_name, "what `root = \"image:NAME\"` means"},
    {"images.*.dir", Kind::text, "the directory of its tree"},

    {"quota", Kind::table, "of each tenant without one of its own"},
    {"quota.sandboxes", Kind::integer, "alive at once", {}, 0, kMostSandboxes},
    {"quota.creates_per_second", Kind::integer, "made in a second", {}, 0, kMostRate},
    {"quota.cpus", Kind::cpus, "processors of all together"},
    {"quota.memory", Kind::size, "memory of all together", {}, kLeastMemory, kMostMemory},
    {"quota.requests", Kind::integer, "served at once, streams too", {}, 1, kMostRequests},

    {"transfers", Kind::table, "of whole trees, in and out"},
    {"transfers.at_once", Kind::integer, "under way together", {}, 1, kMostTransfers},
    {"transfers.entries",
     Kind::integer,
     "files, directories and links of one",
     {},
     1,
     kMostEntries},
    {"transfers.bytes", Kind::size, "of the files of one", {}, 1, kMostMemory},

    {"templates", Kind::table, "what tenants build on the node"},
    {"templates.most", Kind::integer, "builds that are kept of each tenant", {}, 0, kMostTemplates},
    {"templates.memory",
     Kind::size,
     "of a sandbox in which one is built",
     {},
     kLeastMemory,
     kMostMemory},
    {"templates.disk", Kind::size, "for what its steps write", {}, kLeastMemory, kMostMemory},
    {"templates.egress_allowlist", Kind::texts, "what such a sandbox reaches"},

    {"fleet", Kind::table, "the node's place among many"},
    {"fleet.cell", Kind::integer, "its cell", {}, 0, kMostCell},
    {"fleet.node", Kind::integer, "its number there", {}, 0, kMostNode},
    {"fleet.slots", Kind::integer, "sandboxes that it takes", {}, 1, kMostSandboxes},

    {"audit", Kind::table, "the record of what happens"},
    {"audit.durability", Kind::choice, "when a record counts: group or strict", "group strict"},
    {"audit.milliseconds", Kind::integer, "between two waits for the disk", {}, 1, kMostBetween},
    {"audit.head_records", Kind::integer, "after which a head is signed", {}, 1, kMostHeadRecords},
    {"audit.head_seconds", Kind::integer, "the same", {}, 1, kMostHeadSeconds},
    {"audit.keep_days", Kind::integer, "that records are kept", {}, 1, kMostDays},
    {"audit.events_per_second",
     Kind::integer,
     "that are recorded of what happens inside of one sandbox",
     {},
     1,
     kMostEvents},

    {"tenants", Kind::tables_by_name, "who may be named by a token"},
    {"tenants.*.ceiling", Kind::text, "the file of a policy for it"},
    {"tenants.*.sandboxes", Kind::integer, "alive at once", {}, 0, kMostSandboxes},
    {"tenants.*.creates_per_second", Kind::integer, "made in a second", {}, 0, kMostRate},
    {"tenants.*.cpus", Kind::cpus, "processors of all together"},
    {"tenants.*.memory", Kind::size, "memory of all together", {}, kLeastMemory, kMostMemory},
    {"tenants.*.requests", Kind::integer, "served at once, streams too", {}, 1, kMostRequests},
};

Transfers read_transfers(const Section& section) {
  Transfers transfers;
  if (const auto stated = section.integer("at_once")) transfers.at_once = stated->value;
  if (const auto stated = section.integer("entries")) transfers.entries = stated->value;
  if (const auto stated = section.size("bytes")) transfers.bytes = stated->value;
  return transfers;
}

TemplateSettings read_templates(const Section& section) {
  TemplateSettings templates;
  if (const auto stated = section.integer("most")) templates.most = stated->value;
  if (const auto stated = section.size("memory")) templates.memory = stated->value;
  if (const auto stated = section.size("disk")) templates.disk = stated->value;
  for (auto& rule : section.texts("egress_allowlist").items) {
    templates.egress_allowlist.push_back(std::move(rule.value));
  }
  return templates;
}

AuditSettings read_audit(const Section& section) {
  AuditSettings audit;
  if (const auto stated = section.text("durability")) {
    if (stated->value == "strict") audit.durability = AuditDurability::strict;
  }
  if (const auto stated = section.integer("milliseconds")) {
    audit.every = std::chrono::milliseconds{stated->value};
  }
  if (const auto stated = section.integer("head_records")) audit.head_records = stated->value;
  if (const auto stated = section.integer("head_seconds")) {
    audit.head_every = std::chrono::seconds{stated->value};
  }
  if (const auto stated = section.integer("keep_days")) audit.keep_days = stated->value;
  if (const auto stated = section.integer("events_per_second")) {
    audit.events_per_second = stated->value;
  }
  return audit;
}

// What it is called follows from its place: a gateway knows it by that name alone.
void read_fleet(const Section& top, Settings& settings) {
  if (top.find("fleet") == nullptr) return;
  const Section fleet = top.section("fleet");
  FleetPlace place;
  for (const std::string_view needed : {"cell", "node", "slots"}) {
    if (fleet.find(needed) == nullptr) {
      top.problem("fleet",
                  fmt::format("[fleet] needs `cell`, `node` and `slots`; `{}` is missing", needed));
      return;
    }
  }
  if (const auto cell = fleet.integer("cell")) place.cell = static_cast<std::uint16_t>(cell->value);
  if (const auto node = fleet.integer("node")) place.node = static_cast<std::uint32_t>(node->value);
  if (const auto slots = fleet.integer("slots")) place.slots = slots->value;
  const std::string called = token::audience_of_node(place.cell, place.node);
  if (top.find("name") != nullptr && settings.name != called) {
    top.problem("name", fmt::format("`name`: node {} of cell {} is called \"{}\"; leave it out",
                                    place.node, place.cell, called));
  }
  settings.name = called;
  settings.fleet = place;
}

void read_images(const Section& images, Settings& settings) {
  for (const policy::Entry& entry : images.entries()) {
    const Section image{&entry.value, images.problems()};
    if (!policy::is_image_name(entry.key)) {
      images.problems().add(entry.mark, fmt::format("{} is no name of an image; allowed are a-z, "
                                                    "0-9, -, _ and .",
                                                    policy::in_quotes(entry.key)));
    }
    std::string directory;
    take_path(image, "dir", directory);
    if (image.find("dir") == nullptr) {
      images.problems().add(entry.mark, fmt::format("[images.{}] needs `dir`, the directory of its "
                                                    "tree",
                                                    policy::printable(entry.key)));
    }
    settings.images.emplace(entry.key, std::move(directory));
  }
}

void read_tenants(const Section& tenants, Settings& settings) {
  for (const policy::Entry& entry : tenants.entries()) {
    const Section section{&entry.value, tenants.problems()};
    if (!token::is_name(entry.key, token::kLongestTenant)) {
      tenants.problems().add(entry.mark,
                             fmt::format("{} is no name of a tenant; allowed are 1 to 64 "
                                         "of a-z, 0-9 and -",
                                         policy::in_quotes(entry.key)));
    }
    Tenant tenant{.quota = read_quota(section)};
    take_path(section, "ceiling", tenant.ceiling);
    settings.tenants.emplace(entry.key, std::move(tenant));
  }
}

Settings read(const Section& top) {
  Settings settings;
  if (auto name = top.text("name")) {
    settings.name = std::move(name->value);
    if (!token::is_name(settings.name, token::kLongestAudience)) {
      top.problem("name", fmt::format("`name`: {} is none; allowed are 1 to 32 of a-z, 0-9 and -",
                                      policy::in_quotes(settings.name)));
    }
  }
  take_path(top, "state", settings.state);
  take_path(top, "launcher", settings.launcher);
  take_path(top, "token_key", settings.token_key);
  take_path(top, "ceiling", settings.ceiling);
  take_path(top, "image_store", settings.image_store);
  gate::Listening listening{.unix_socket = settings.unix_socket};
  gate::read_listening(top.section("listen"), listening);
  settings.unix_socket = std::move(listening.unix_socket);
  settings.tcp = std::move(listening.tcp);
  settings.certificate = std::move(listening.certificate);
  settings.key = std::move(listening.key);
  settings.client_authority = std::move(listening.client_authority);
  settings.origins = std::move(listening.origins);
  settings.quota = read_quota(top.section("quota"));
  settings.transfers = read_transfers(top.section("transfers"));
  settings.templates = read_templates(top.section("templates"));
  settings.audit = read_audit(top.section("audit"));
  read_fleet(top, settings);
  read_images(top.section("images"), settings);
  read_tenants(top.section("tenants"), settings);
  if (auto image = top.text("default_image")) {
    settings.default_image = std::move(image->value);
    // What a store holds may come later.
    if (settings.image_store.empty() && !settings.images.contains(settings.default_image)) {
      top.problem("default_image", fmt::format("`default_image`: there is no [images.{}]",
                                               policy::printable(settings.default_image)));
    }
  }
  return settings;
}

}  // namespace

Result<Settings> read_settings(std::string_view text, policy::Problems& problems) {
  TRY(const policy::Value tree, policy::read_toml(text, problems));
  policy::check_shape(tree, problems, kKeys);
  if (!problems.empty()) return problems.to_error();
  Settings settings = read(Section{&tree, problems});
  if (!problems.empty()) return problems.to_error();
  return settings;
}

}  // namespace cordon::node
