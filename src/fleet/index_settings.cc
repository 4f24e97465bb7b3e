// SPDX-License-Identifier: Apache-2.0
#include "fleet/index_settings.h"

#include <limits>

#include <fmt/format.h>

#include "fleet/summary.h"
#include "policy/keys.h"
#include "policy/shape.h"
#include "policy/text.h"
#include "policy/value.h"

namespace cordon::fleet {
namespace {

using policy::Key;
using policy::Section;

constexpr Key kIndexKeys[] = {
    {"address", policy::Kind::text, "ADDRESS:PORT at which gateways reach the index"},
    {"state", policy::Kind::text, "the index's own directory"},
    {"root_key", policy::Kind::text, "the file of the key that all tokens are made with"},

    {"listen", policy::Kind::table, "where gateways ask"},
    {"listen.unix", policy::Kind::text, "the path of a Unix socket"},
    {"listen.tcp", policy::Kind::text, "ADDRESS:PORT"},
    {"listen.certificate", policy::Kind::text, "the file of a certificate and its chain"},
    {"listen.key", policy::Kind::text, "the file of its key"},
    {"listen.client_authority", policy::Kind::text, "the file of the authority of gateways"},

    {"cell", policy::Kind::table, "the cell whose index it is"},
    {.path = "cell.number",
     .kind = policy::Kind::integer,
     .meaning = "its number",
     .most = std::numeric_limits<std::uint16_t>::max()},
    {"cell.members", policy::Kind::texts, "ADDRESS:PORT of each member of its cluster"},

    {"etcd", policy::Kind::table, "the cluster of all cells: quotas"},
    {"etcd.members", policy::Kind::texts, "ADDRESS:PORT of each member"},
    {"etcd.authority", policy::Kind::text, "the file of the authority of members"},
    {"etcd.certificate", policy::Kind::text, "the file of our certificate"},
    {"etcd.key", policy::Kind::text, "the file of its key"},

    {"nodes", policy::Kind::table, "how nodes are spoken to"},
    {"nodes.authority", policy::Kind::text, "the file of the authority of nodes"},
    {"nodes.certificate", policy::Kind::text, "the file of our certificate"},
    {"nodes.key", policy::Kind::text, "the file of its key"},
};

IndexSettings read_all_of_index(const Section& top) {
  IndexSettings settings;
  settings.address = top.required("address", "an index");
  if (!settings.address.empty() && !check_address(settings.address)) {
    top.problem("address", fmt::format("`address`: {} is no ADDRESS:PORT of one machine; write "
                                       "\"192.0.2.20:8444\"",
                                       policy::in_quotes(settings.address)));
  }
  gate::take_path(top, "state", settings.state);
  gate::take_path(top, "root_key", settings.root_key);
  gate::read_listening(top.section("listen"), settings.listen);
  const Section cell = top.section("cell");
  const auto number = cell.integer("number");
  if (number) settings.cell = static_cast<std::uint16_t>(number->value);
  if (!number) cell.problem("number", "[cell] needs `number`: whose index it is");
  settings.members = read_members(cell, "cell");
  settings.etcd = read_members(top.section("etcd"), "etcd");
  settings.etcd_identity = read_identity(top.section("etcd"), "etcd");
  settings.nodes = read_identity(top.section("nodes"), "nodes");
  if (settings.root_key.empty()) {
    top.problem("root_key", "`root_key` is missing: without it no token can be made for a node");
  }
  return settings;
}

}  // namespace

Result<IndexSettings> read_index_settings(std::string_view text, policy::Problems& problems) {
  TRY(const policy::Value tree, policy::read_toml(text, problems));
  policy::check_shape(tree, problems, kIndexKeys);
  if (!problems.empty()) return problems.to_error();
  IndexSettings settings = read_all_of_index(Section{&tree, problems});
  if (!problems.empty()) return problems.to_error();
  return settings;
}

}  // namespace cordon::fleet
