// SPDX-License-Identifier: Apache-2.0
// What a token may be used for: a closed list with stable names and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace cordon::token {

// The numbers are part of tokens: new ones go to the end, none is ever used again.
enum class Operation : std::uint8_t {
  sandbox_create = 0,
  sandbox_read = 1,
  sandbox_change = 2,
  sandbox_destroy = 3,
  process_start = 4,
  process_read = 5,
  process_input = 6,
  process_signal = 7,
  file_read = 8,
  file_write = 9,
  tunnel_open = 10,
  secret_write = 11,
  secret_list = 12,
  secret_delete = 13,
  event_read = 14,
  metrics_read = 15,
  node_read = 16,
  node_drain = 17,
  token_revoke = 18,
  key_create = 19,
  key_list = 20,
  key_delete = 21,
  audit_read = 22,
  node_configure = 23,
  sandbox_move = 24,
};

enum class Reach : std::uint8_t {
  tenant,  // a thing of one tenant
  node,    // things of all tenants: an operator's alone
};

struct OperationRow {
  Operation operation;
  std::string_view name;
  Reach reach = Reach::tenant;
  bool has_path = false;  // it is about a file
  std::string_view meaning;
};

// In the order of their numbers, which are 0, 1, 2, …
std::span<const OperationRow> all_operations() noexcept;
const OperationRow& row_of(Operation operation) noexcept;
std::string_view to_string(Operation operation) noexcept;
std::optional<Operation> operation_from(std::string_view name) noexcept;

class OperationSet {
 public:
  constexpr OperationSet() noexcept = default;
  static OperationSet all() noexcept;
  // Nothing: a bit stands for no operation.
  static std::optional<OperationSet> from_bits(std::uint64_t bits) noexcept;

  constexpr void add(Operation operation) noexcept { bits_ |= bit(operation); }
  constexpr bool has(Operation operation) const noexcept { return (bits_ & bit(operation)) != 0; }
  constexpr std::uint64_t bits() const noexcept { return bits_; }
  constexpr void keep(OperationSet others) noexcept { bits_ &= others.bits_; }
  friend bool operator==(OperationSet, OperationSet) = default;

 private:
  static constexpr std::uint64_t bit(Operation operation) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(operation);
  }
  std::uint64_t bits_ = 0;
};

}  // namespace cordon::token
