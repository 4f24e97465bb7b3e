// SPDX-License-Identifier: Apache-2.0
#include "fleet/registrar_settings.h"

#include <fmt/format.h>

#include "fleet/summary.h"
#include "gate/listening.h"
#include "policy/keys.h"
#include "policy/shape.h"
#include "policy/text.h"

namespace cordon::fleet {
namespace {

constexpr policy::Key kRegistrarKeys[] = {
    {"node", policy::Kind::text, "the node's own socket"},
    {"address", policy::Kind::text, "ADDRESS:PORT at which gateways reach the node"},

    {"cell", policy::Kind::table, "the cluster of the node's cell"},
    {"cell.members", policy::Kind::texts, "ADDRESS:PORT of each member"},

    {"etcd", policy::Kind::table, "the cluster of all cells: revocations"},
    {"etcd.members", policy::Kind::texts, "ADDRESS:PORT of each member"},
    {"etcd.authority", policy::Kind::text, "the file of the authority of members"},
    {"etcd.certificate", policy::Kind::text, "the file of the node's certificate"},
    {"etcd.key", policy::Kind::text, "the file of its key"},
};

RegistrarSettings read_registrar(const policy::Section& top) {
  RegistrarSettings settings;
  gate::take_path(top, "node", settings.node);
  settings.address = top.required("address", "a registrar");
  if (!settings.address.empty() && !check_address(settings.address)) {
    top.problem("address", fmt::format("`address`: {} is no ADDRESS:PORT of one machine; write "
                                       "\"192.0.2.7:8443\", or \"[2001:db8::7]:8443\"",
                                       policy::in_quotes(settings.address)));
  }
  settings.cell = read_members(top.section("cell"), "cell");
  settings.all = read_members(top.section("etcd"), "etcd");
  settings.identity = read_identity(top.section("etcd"), "etcd");
  return settings;
}

}  // namespace

Result<RegistrarSettings> read_registrar_settings(std::string_view text,
                                                  policy::Problems& problems) {
  TRY(const policy::Value tree, policy::read_toml(text, problems));
  policy::check_shape(tree, problems, kRegistrarKeys);
  if (!problems.empty()) return problems.to_error();
  RegistrarSettings settings = read_registrar(policy::Section{&tree, problems});
  if (!problems.empty()) return problems.to_error();
  return settings;
}

}  // namespace cordon::fleet
