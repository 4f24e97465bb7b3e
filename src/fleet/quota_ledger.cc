// SPDX-License-Identifier: Apache-2.0
#include "fleet/quota_ledger.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "policy/problem.h"
#include "policy/value.h"
#include "wire/json_writer.h"

namespace cordon::fleet {
namespace {

using policy::Value;

constexpr std::int64_t kMostUnits = std::int64_t{1} << 40U;

// What is 0 is not kept: two ledgers that mean the same are the same.
void set(std::map<Cell, std::uint64_t>& of, Cell cell, std::uint64_t amount) {
  if (amount == 0) {
    of.erase(cell);
  } else {
    of[cell] = amount;
  }
}

std::uint64_t at(const std::map<Cell, std::uint64_t>& of, Cell cell) {
  const auto found = of.find(cell);
  return found == of.end() ? 0 : found->second;
}

Error not_a_ledger(std::string_view key) {
  return Error{Errc::invalid, fmt::format("a quota: `{}` is missing or wrong", key)};
}

Result<Cell> cell_of(std::string_view text) {
  Cell cell = 0;
  const auto [end, failure] = std::from_chars(text.begin(), text.end(), cell);
  if (failure != std::errc{} || end != text.end() || text != std::to_string(cell)) {
    return not_a_ledger("cell");
  }
  return cell;
}

Result<std::map<Cell, std::uint64_t>> amounts_at(const Value& of, std::string_view key) {
  const Value* const found = of.find(key);
  if (found == nullptr || found->table() == nullptr) return not_a_ledger(key);
  std::map<Cell, std::uint64_t> amounts;
  for (const policy::Entry& entry : *found->table()) {
    TRY(const Cell cell, cell_of(entry.key));
    const std::int64_t* const amount = entry.value.integer();
    if (amount == nullptr || *amount < 1 || *amount > kMostUnits) return not_a_ledger(key);
    amounts.emplace(cell, static_cast<std::uint64_t>(*amount));
  }
  return amounts;
}

Result<std::set<Cell>> cells_at(const Value& of, std::string_view key) {
  const Value* const found = of.find(key);
  if (found == nullptr || found->list() == nullptr) return not_a_ledger(key);
  std::set<Cell> cells;
  for (const Value& one : *found->list()) {
    if (one.text() == nullptr) return not_a_ledger(key);
    TRY(const Cell cell, cell_of(*one.text()));
    cells.insert(cell);
  }
  return cells;
}

void write(wire::JsonWriter& out, std::string_view key,
           const std::map<Cell, std::uint64_t>& amounts) {
  out.key(key);
  out.begin_object();
  for (const auto& [cell, amount] : amounts) out.number(std::to_string(cell), amount);
  out.end_object();
}

void write(wire::JsonWriter& out, std::string_view key, const std::set<Cell>& cells) {
  out.key(key);
  out.begin_array();
  for (const Cell cell : cells) out.text(std::to_string(cell));
  out.end_array();
}

}  // namespace

std::uint64_t QuotaLedger::share_of(Cell cell) const {
  return homes.contains(cell) ? total / 2 / homes.size() : 0;
}

std::uint64_t QuotaLedger::held_by(Cell cell) const {
  const std::uint64_t share = share_of(cell);
  return share - std::min(share, at(given, cell)) + at(lent, cell);
}

std::int64_t QuotaLedger::pool() const {
  auto left = static_cast<std::int64_t>(total);
  for (const Cell cell : homes) {
    left -= static_cast<std::int64_t>(share_of(cell) - std::min(share_of(cell), at(given, cell)));
  }
  for (const auto& [cell, amount] : lent) left -= static_cast<std::int64_t>(amount);
  return left;
}

std::uint64_t QuotaLedger::excess() const {
  return static_cast<std::uint64_t>(-std::min<std::int64_t>(pool(), 0));
}

std::uint64_t QuotaLedger::margin() const {
  constexpr std::uint64_t kMost = 8;
  constexpr std::uint64_t kPart = 32;
  return std::clamp<std::uint64_t>(total / kPart, 1, kMost);
}

bool QuotaLedger::has_for_all_wanting() const {
  return pool() >= static_cast<std::int64_t>(least_chunk() * wanting.size());
}

bool QuotaLedger::is_wanted_by_others(Cell cell) const {
  return wanting.size() > wanting.count(cell) && !has_for_all_wanting();
}

std::uint64_t QuotaLedger::take(Cell cell) {
  const std::int64_t there = pool();
  if (there <= 0) return 0;
  const auto all = static_cast<std::uint64_t>(there);
  const std::uint64_t chunk = std::min(all, std::max(least_chunk(), all / 2));
  // Of its own share first: what it has given.
  const std::uint64_t own = std::min(chunk, at(given, cell));
  set(given, cell, at(given, cell) - own);
  set(lent, cell, at(lent, cell) + chunk - own);
  wanting.erase(cell);
  return chunk;
}

void QuotaLedger::release(Cell cell, std::uint64_t amount) {
  amount = std::min(amount, held_by(cell));
  if (amount == 0) return;
  const std::uint64_t back = std::min(amount, at(lent, cell));
  set(lent, cell, at(lent, cell) - back);
  if (amount > back) set(given, cell, at(given, cell) + amount - back);
  if (has_for_all_wanting()) wanting.clear();
}

bool QuotaLedger::want(Cell cell) { return wanting.insert(cell).second; }

void QuotaLedger::resize(std::uint64_t new_total, std::set<Cell> new_homes) {
  total = new_total;
  homes = std::move(new_homes);
  for (auto one = given.begin(); one != given.end();) {
    one->second = std::min(one->second, share_of(one->first));
    one = one->second == 0 ? given.erase(one) : std::next(one);
  }
}

std::string encode(const QuotaLedger& ledger) {
  wire::JsonWriter out;
  out.begin_object();
  out.number("format", std::int64_t{1});
  out.number("total", ledger.total);
  write(out, "homes", ledger.homes);
  write(out, "given", ledger.given);
  write(out, "lent", ledger.lent);
  write(out, "wanting", ledger.wanting);
  out.end_object();
  return out.take();
}

Result<QuotaLedger> decode_quota(std::string_view text) {
  policy::Problems problems{"quota"};
  auto read = policy::read_json(text, problems);
  if (!read) return Error{Errc::invalid, read.error().text()};
  if (read->table() == nullptr) return not_a_ledger("{");
  const Value* const format = read->find("format");
  if (format == nullptr || format->integer() == nullptr || *format->integer() != 1) {
    return not_a_ledger("format");
  }
  const Value* const total = read->find("total");
  const std::int64_t* const units = total != nullptr ? total->integer() : nullptr;
  if (units == nullptr || *units < 0 || *units > kMostUnits) return not_a_ledger("total");
  QuotaLedger ledger{.total = static_cast<std::uint64_t>(*units)};
  TRY(ledger.homes, cells_at(*read, "homes"));
  TRY(ledger.given, amounts_at(*read, "given"));
  TRY(ledger.lent, amounts_at(*read, "lent"));
  TRY(ledger.wanting, cells_at(*read, "wanting"));
  for (const auto& [cell, amount] : ledger.given) {
    if (amount > ledger.share_of(cell)) return not_a_ledger("given");
  }
  return ledger;
}

}  // namespace cordon::fleet
