// SPDX-License-Identifier: Apache-2.0
#include "fleet/gateway_settings.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "policy/keys.h"
#include "policy/section.h"
#include "policy/shape.h"
#include "policy/text.h"
#include "policy/value.h"

namespace cordon::fleet {
namespace {

using policy::Key;
using policy::Section;

constexpr Key kGatewayKeys[] = {
    {"state", policy::Kind::text, "the gateway's own directory"},
    {"root_key", policy::Kind::text, "the file of the key that all tokens are made with"},

    {"listen", policy::Kind::table, "where requests come in"},
    {"listen.unix", policy::Kind::text, "the path of a Unix socket"},
    {"listen.tcp", policy::Kind::text, "ADDRESS:PORT"},
    {"listen.certificate", policy::Kind::text, "the file of a certificate and its chain"},
    {"listen.key", policy::Kind::text, "the file of its key"},
    {"listen.client_authority", policy::Kind::text, "the file of the authority of clients"},
    {"listen.origins", policy::Kind::texts, "pages that may open a WebSocket"},

    {"etcd", policy::Kind::table, "the cluster of all cells: revocations"},
    {"etcd.members", policy::Kind::texts, "ADDRESS:PORT of each member"},
    {"etcd.authority", policy::Kind::text, "the file of the authority of members"},
    {"etcd.certificate", policy::Kind::text, "the file of our certificate"},
    {"etcd.key", policy::Kind::text, "the file of its key"},

    {"cells", policy::Kind::tables_by_name, "by number: the cells that are followed"},
    {"cells.*.members", policy::Kind::texts, "ADDRESS:PORT of each member of its cluster"},

    {"nodes", policy::Kind::table, "how nodes are spoken to"},
    {"nodes.authority", policy::Kind::text, "the file of the authority of nodes"},
    {"nodes.certificate", policy::Kind::text, "the file of our certificate"},
    {"nodes.key", policy::Kind::text, "the file of its key"},
};

std::optional<std::uint16_t> cell_from(std::string_view text) {
  std::uint16_t cell = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), cell);
  if (failure != std::errc{} || end != text.data() + text.size() || std::to_string(cell) != text) {
    return std::nullopt;
  }
  return cell;
}

void read_cells(const Section& cells, GatewaySettings& settings) {
  for (const policy::Entry& entry : cells.entries()) {
    const Section section{&entry.value, cells.problems()};
    const auto cell = cell_from(entry.key);
    if (!cell) {
      cells.problems().add(entry.mark,
                           fmt::format("{} is no number of a cell; allowed are 0 to 65535",
                                       policy::in_quotes(entry.key)));
      continue;
    }
    settings.cells.emplace(*cell, read_members(section, "cells." + entry.key));
  }
}

GatewaySettings read_all(const Section& top) {
  GatewaySettings settings;
  gate::take_path(top, "state", settings.state);
  gate::take_path(top, "root_key", settings.root_key);
  gate::read_listening(top.section("listen"), settings.listen);
  settings.etcd = read_members(top.section("etcd"), "etcd");
  settings.etcd_identity = read_identity(top.section("etcd"), "etcd");
  settings.nodes = read_identity(top.section("nodes"), "nodes");
  read_cells(top.section("cells"), settings);
  if (settings.root_key.empty()) {
    top.problem("root_key", "`root_key` is missing: without it no token can be made for a node");
  }
  if (settings.cells.empty()) {
    top.problem("cells", "no cell: write [cells.1] with the `members` of its cluster");
  }
  return settings;
}

}  // namespace

Result<GatewaySettings> read_gateway_settings(std::string_view text, policy::Problems& problems) {
  TRY(const policy::Value tree, policy::read_toml(text, problems));
  policy::check_shape(tree, problems, kGatewayKeys);
  if (!problems.empty()) return problems.to_error();
  GatewaySettings settings = read_all(Section{&tree, problems});
  if (!problems.empty()) return problems.to_error();
  return settings;
}

}  // namespace cordon::fleet
