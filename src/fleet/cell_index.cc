// SPDX-License-Identifier: Apache-2.0
#include "fleet/cell_index.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

namespace cordon::fleet {
namespace {

namespace json = boost::json;

constexpr std::string_view kShared = "enforcement";
constexpr std::size_t kLongestShared = std::size_t{8} << 10U;
// Of texts that nobody has any more: looked for when so many are known, at least.
constexpr std::size_t kManyShared = 1024;

Error no_census(std::string_view what) {
  return Error{Errc::invalid, "a node's census: " + std::string{what}};
}

std::string said_text(const json::object& of, std::string_view name) {
  const json::value* const found = of.if_contains(name);
  return found != nullptr && found->is_string() ? std::string{found->get_string()} : std::string{};
}

// "3 17"
std::optional<Stamp> stamp_from(std::string_view text) {
  Stamp at;
  const char* const end = text.end();
  const auto [space, failure] = std::from_chars(text.begin(), end, at.epoch);
  if (failure != std::errc{} || space == end || *space != ' ') return std::nullopt;
  const auto [last, other] = std::from_chars(space + 1, end, at.seq);
  if (other != std::errc{} || last != end) return std::nullopt;
  return at;
}

std::map<std::string, std::string> labels_in(const json::object& row) {
  std::map<std::string, std::string> labels;
  const json::value* const found = row.if_contains("labels");
  if (found == nullptr || !found->is_object()) return labels;
  for (const auto& [name, value] : found->get_object()) {
    if (value.is_string()) labels.emplace(name, value.get_string());
  }
  return labels;
}

// A line about one sandbox.
struct Said {
  std::string id;
  CellIndex::Row row;
  std::string alike;  // what is alike in many; empty: nothing is
};

void read_shown(json::object& shown, Said& said) {
  said.id = said_text(shown, "id");
  said.row.tenant = said_text(shown, "tenant");
  said.row.labels = labels_in(shown);
  if (const json::value* const alike = shown.if_contains(kShared)) {
    said.alike = json::serialize(*alike);
    // One that is longer than any is alike in none.
    if (said.alike.size() > kLongestShared) {
      said.alike.clear();
    } else {
      shown.erase(kShared);
    }
  }
  said.row.text = json::serialize(shown);
}

Result<Said> read_said(json::object& object) {
  const json::value* const built = object.if_contains("build");
  Said said{.id = said_text(object, "id"), .row = {}, .alike = {}};
  said.row.tenant = said_text(object, "tenant");
  said.row.unit = said_text(object, "unit");
  said.row.is_counted = built == nullptr || !built->is_bool() || !built->get_bool();
  if (json::value* const sandbox = object.if_contains("sandbox")) {
    if (!sandbox->is_object()) return no_census("`sandbox`");
    read_shown(sandbox->get_object(), said);
  }
  const json::value* const e2b = object.if_contains("e2b");
  if (e2b != nullptr && e2b->is_object()) {
    // Lists of E2B's have it as it is: no node speaks of another's in there.
    if (said_text(e2b->get_object(), "sandboxID") != said.id) return no_census("`e2b` of another");
    said.row.e2b = json::serialize(*e2b);
    said.row.is_paused = said_text(e2b->get_object(), "state") == "paused";
  }
  return said;
}

// What it takes, about: texts, and the maps that they are in.
std::size_t bytes_of(const std::string& id, const CellIndex::Row& row) {
  constexpr std::size_t kNode = 64;
  std::size_t bytes = sizeof(CellIndex::Row) + kNode + id.size() + row.tenant.size() +
                      row.text.size() + row.e2b.size() + row.unit.size();
  for (const auto& [name, value] : row.labels) {
    bytes += 2 * sizeof(std::string) + kNode + name.size() + value.size();
  }
  // Shared by others too, or not.
  return bytes + (row.shared ? row.shared->size() : 0);
}

}  // namespace

std::shared_ptr<const std::string> CellIndex::shared(std::string text) {
  if (const auto found = shared_.find(text); found != shared_.end()) {
    if (auto there = found->second.lock()) return there;
  }
  if (shared_.size() >= std::max(look_at_, kManyShared)) {
    std::erase_if(shared_, [](const auto& one) { return one.second.expired(); });
    look_at_ = 2 * shared_.size();
  }
  auto made = std::make_shared<const std::string>(std::move(text));
  shared_.insert_or_assign(*made, made);
  return made;
}

void CellIndex::count_one(const Row& row, bool is_more) {
  if (!row.is_counted) return;
  if (is_more) {
    ++counts_[row.tenant];
    return;
  }
  const auto found = counts_.find(row.tenant);
  if (--found->second == 0) counts_.erase(found);
}

void CellIndex::settle(const Row& row) {
  // What is not counted has used none.
  if (!row.unit.empty() && row.is_counted) settled_(row.tenant, row.unit);
}

Status CellIndex::put(Told& told, std::string id, Row row) {
  remove(told, id);
  Rows& rows = told.fresh ? *told.fresh : told.rows;
  std::size_t& bytes = told.fresh ? told.fresh_bytes : told.bytes;
  const std::size_t more = bytes_of(id, row);
  if (rows.size() >= bounds_.rows || bytes + more > bounds_.bytes) {
    return no_census(fmt::format("more than {} rows, or {} bytes", bounds_.rows, bounds_.bytes));
  }
  bytes += more;
  // Not in the count before all was said: then it is in place of what was there.
  if (!told.fresh) {
    count_one(row, true);
    settle(row);
  }
  rows.emplace(std::move(id), std::move(row));
  return {};
}

void CellIndex::remove(Told& told, std::string_view id) {
  Rows& rows = told.fresh ? *told.fresh : told.rows;
  const auto found = rows.find(id);
  if (found == rows.end()) return;
  (told.fresh ? told.fresh_bytes : told.bytes) -= bytes_of(found->first, found->second);
  if (!told.fresh) count_one(found->second, false);
  rows.erase(found);
}

void CellIndex::begin(NodeId node) {
  Told& told = told_[node];
  told.fresh.emplace();
  told.fresh_bytes = 0;
  told.read_at.reset();
}

Result<bool> CellIndex::took(NodeId node, std::string_view line, Ticks now) {
  const auto known = told_.find(node);
  if (known == told_.end()) return no_census("of a node that has not begun");
  Told& told = known->second;
  boost::system::error_code error;
  json::value said = json::parse(line, error);
  if (error || !said.is_object()) return no_census("no object");
  json::object& object = said.get_object();
  if (const std::string at = said_text(object, "at"); !at.empty()) {
    const auto stamp = stamp_from(at);
    if (!stamp) return no_census("`at`");
    if (told.fresh) {
      for (const auto& [id, row] : told.rows) count_one(row, false);
      told.rows = std::move(*told.fresh);
      told.bytes = std::exchange(told.fresh_bytes, 0);
      told.fresh.reset();
      for (const auto& [id, row] : told.rows) {
        count_one(row, true);
        settle(row);
      }
    }
    told.at = *stamp;
    told.read_at = now;
    return true;
  }
  TRY(Said one, read_said(object));
  if (const std::string gone = said_text(object, "gone"); !gone.empty()) {
    if (!is_of_(gone, node) && guest_of(gone, node) == Guest::nobody) {
      return no_census("a name of another node");
    }
    // It may have come and gone unseen.
    settle(one.row);
    remove(told, gone);
    return false;
  }
  if (one.id.empty() || one.row.tenant.empty()) return no_census("a line that says nothing");
  one.row.is_guest = !is_of_(one.id, node);
  if (one.row.is_guest && guest_of(one.id, node) == Guest::nobody) {
    return no_census("a name of another node");
  }
  if (!one.alike.empty()) one.row.shared = shared(std::move(one.alike));
  TRY_DO(put(told, std::move(one.id), std::move(one.row)));
  return false;
}

void CellIndex::broke_off(NodeId node) {
  const auto found = told_.find(node);
  if (found == told_.end()) return;
  found->second.fresh.reset();
  found->second.fresh_bytes = 0;
  found->second.read_at.reset();
}

void CellIndex::forget(NodeId node) {
  const auto found = told_.find(node);
  if (found == told_.end()) return;
  for (const auto& [id, row] : found->second.rows) count_one(row, false);
  told_.erase(found);
}

bool CellIndex::has(NodeId node, const Stamp& at) const {
  const auto found = told_.find(node);
  return found != told_.end() && found->second.read_at && found->second.at >= at;
}

std::optional<Ticks> CellIndex::read_at(NodeId node) const {
  const auto found = told_.find(node);
  return found == told_.end() ? std::nullopt : found->second.read_at;
}

std::uint64_t CellIndex::count(const std::string& tenant) const {
  const auto found = counts_.find(tenant);
  return found == counts_.end() ? 0 : found->second;
}

const CellIndex::Rows* CellIndex::rows(NodeId node) const {
  const auto found = told_.find(node);
  return found == told_.end() ? nullptr : &found->second.rows;
}

std::size_t CellIndex::size() const noexcept {
  std::size_t all = 0;
  for (const auto& [node, told] : told_) all += told.rows.size();
  return all;
}

}  // namespace cordon::fleet
