// SPDX-License-Identifier: Apache-2.0
// One JSON object per answer. Paths that are not UTF-8 come escaped, with their bytes beside them.
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "cli/review_report.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

void put_bytes(json::object& object, const std::string& key, const std::string& bytes) {
  if (is_utf8(bytes)) {
    object[key] = bytes;
    return;
  }
  object[key] = review::printable(bytes);
  object[key + "_hex"] = to_hex(as_bytes(bytes));
}

json::object run_value(const review::RunRecord& run) {
  json::object object;
  object["id"] = run.id.text();
  put_bytes(object, "workspace", run.workspace);
  object["started_ms"] = run.started.time_since_epoch().count();
  if (run.ended) object["ended_ms"] = run.ended->time_since_epoch().count();
  if (run.expires) object["expires_ms"] = run.expires->time_since_epoch().count();
  object["verdict"] = run.verdict;
  return object;
}

// Whether something outside the review may run it.
bool runs_elsewhere(const review::Change& change) {
  for (const review::Flag& flag : change.flags) {
    const bool other = flag.code == "not_applied" || flag.code == "not_counted" ||
                       flag.code == "set_id" || flag.code == "link_out";
    if (!other) return true;
  }
  return false;
}

json::array flags_value(const review::Change& change) {
  json::array flags;
  for (const review::Flag& flag : change.flags) {
    flags.push_back(json::object{{"code", flag.code}, {"reason", flag.reason}});
  }
  return flags;
}

json::object change_value(const review::Change& change) {
  json::object object;
  put_bytes(object, "path", change.path);
  object["kind"] = to_string(change.kind);
  object["type"] = to_string(change.type);
  if (change.lower) object["type_before"] = to_string(change.lower->type);
  object["size"] = change.size;
  object["mode"] = fmt::format("{:04o}", change.mode);
  if (change.lower) object["mode_before"] = fmt::format("{:04o}", change.lower->mode);
  if (change.lines) {
    object["lines_added"] = change.lines->added;
    object["lines_removed"] = change.lines->removed;
  }
  if (change.type == os::FileType::symlink) put_bytes(object, "target", change.target);
  if (change.entries > 0) object["entries"] = change.entries;
  object["conflict"] = change.lower_is_newer;
  if (!change.obstacle.empty()) object["obstacle"] = change.obstacle;
  object["host_exec_risk"] = runs_elsewhere(change);
  object["flags"] = flags_value(change);
  return object;
}

}  // namespace

std::string diff_json(const DiffReport& report) {
  json::array changes;
  for (const auto& change : report.changes) {
    if (change.kind == review::ChangeKind::deleted) changes.push_back(change_value(change));
  }
  for (const auto& change : report.changes) {
    if (change.kind != review::ChangeKind::deleted) changes.push_back(change_value(change));
  }
  json::object object;
  object["run"] = run_value(report.run);
  object["running"] = report.running;
  object["changes"] = std::move(changes);
  return json::serialize(object) + "\n";
}

std::string apply_json(const review::RunRecord& run, const review::ApplyReport& report) {
  json::array applied;
  for (const auto& change : report.applied) {
    json::object object;
    put_bytes(object, "path", change.path);
    object["kind"] = to_string(change.kind);
    applied.push_back(std::move(object));
  }
  json::array left;
  for (const auto& one : report.left) {
    json::object object;
    put_bytes(object, "path", one.path);
    put_bytes(object, "reason", one.reason);
    object["conflict"] = one.conflict;
    left.push_back(std::move(object));
  }
  json::object object;
  object["run"] = run_value(run);
  object["applied"] = std::move(applied);
  object["left"] = std::move(left);
  object["remaining"] = report.remaining;
  object["removed"] = report.removed;
  return json::serialize(object) + "\n";
}

}  // namespace cordon::cli
