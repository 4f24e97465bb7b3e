// SPDX-License-Identifier: Apache-2.0
#include "token/operation.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cordon::token {
namespace {

using enum Operation;

constexpr std::array kOperations = {
    OperationRow{sandbox_create, "sandbox.create", Reach::tenant, false, "make a sandbox"},
    OperationRow{sandbox_read, "sandbox.read", Reach::tenant, false, "get and list sandboxes"},
    OperationRow{sandbox_change, "sandbox.change", Reach::tenant, false,
                 "change labels and time, narrow the policy"},
    OperationRow{sandbox_destroy, "sandbox.destroy", Reach::tenant, false, "destroy a sandbox"},
    OperationRow{process_start, "process.start", Reach::tenant, false, "start a process"},
    OperationRow{process_read, "process.read", Reach::tenant, false,
                 "list processes, read output, wait"},
    OperationRow{process_input, "process.input", Reach::tenant, false,
                 "write standard input, resize a terminal"},
    OperationRow{process_signal, "process.signal", Reach::tenant, false, "send a signal"},
    OperationRow{file_read, "file.read", Reach::tenant, true, "read, list and watch files"},
    OperationRow{file_write, "file.write", Reach::tenant, true,
                 "write, make, move and remove files"},
    OperationRow{tunnel_open, "tunnel.open", Reach::tenant, false, "reach a port inside a sandbox"},
    OperationRow{secret_write, "secret.write", Reach::tenant, false, "put a secret"},
    OperationRow{secret_list, "secret.list", Reach::tenant, false, "list names of secrets"},
    OperationRow{secret_delete, "secret.delete", Reach::tenant, false, "delete a secret"},
    OperationRow{event_read, "event.read", Reach::tenant, false, "read events"},
    OperationRow{metrics_read, "metrics.read", Reach::node, false, "read the node's metrics"},
    OperationRow{node_read, "node.read", Reach::node, false, "read the node's state"},
    OperationRow{node_drain, "node.drain", Reach::node, false, "let the node take nothing more"},
    OperationRow{token_revoke, "token.revoke", Reach::tenant, false, "revoke a token"},
    OperationRow{key_create, "key.create", Reach::tenant, false, "make an API key"},
    OperationRow{key_list, "key.list", Reach::tenant, false, "list API keys"},
    OperationRow{key_delete, "key.delete", Reach::tenant, false, "delete an API key"},
    OperationRow{audit_read, "audit.read", Reach::tenant, false, "read the audit log"},
    OperationRow{node_configure, "node.configure", Reach::node, false,
                 "change what new sandboxes are held against; read what a node has of all tenants"},
    OperationRow{sandbox_move, "sandbox.move", Reach::node, false,
                 "have a sandbox of any tenant go on at another node, with its files"},
};

constexpr bool operations_are_in_order() {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (static_cast<std::size_t>(kOperations[i].operation) != i) return false;
  }
  return true;
}
static_assert(operations_are_in_order() && kOperations.size() < 64);

constexpr std::uint64_t kAll = (std::uint64_t{1} << kOperations.size()) - 1;

}  // namespace

std::span<const OperationRow> all_operations() noexcept { return kOperations; }

const OperationRow& row_of(Operation operation) noexcept {
  return kOperations[static_cast<std::size_t>(operation)];
}

std::string_view to_string(Operation operation) noexcept { return row_of(operation).name; }

std::optional<Operation> operation_from(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kOperations, name, &OperationRow::name);
  if (found == kOperations.end()) return std::nullopt;
  return found->operation;
}

OperationSet OperationSet::all() noexcept {
  OperationSet set;
  set.bits_ = kAll;
  return set;
}

std::optional<OperationSet> OperationSet::from_bits(std::uint64_t bits) noexcept {
  if ((bits & ~kAll) != 0) return std::nullopt;
  OperationSet set;
  set.bits_ = bits;
  return set;
}

}  // namespace cordon::token
