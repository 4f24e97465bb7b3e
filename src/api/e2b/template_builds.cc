// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/template_builds.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.h"
#include "base/utf8.h"
#include "wire/json_writer.h"

namespace cordon::api::e2b {
namespace {

// Of one answer; a client asks again for the rest.
constexpr std::size_t kMostTold = 500;

// What is no UTF-8 becomes a question mark.
std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Utf8Character first = first_character(bytes);
    text += first.length == 0 ? std::string_view{"?"} : bytes.substr(0, first.length);
    bytes.remove_prefix(std::max<std::size_t>(first.length, 1));
  }
  return text;
}

void write_line(wire::JsonWriter& json, const BuildLine& line) {
  json.begin_object();
  json.text("timestamp", to_text(line.time));
  json.text("level", line.is_error ? "error" : "info");
  json.text("message", line.text);
  json.end_object();
}

}  // namespace

std::string_view to_string(BuildStatus status) noexcept {
  switch (status) {
    case BuildStatus::waiting:
      return "waiting";
    case BuildStatus::building:
      return "building";
    case BuildStatus::ready:
      return "ready";
    case BuildStatus::error:
      break;
  }
  return "error";
}

void Build::add(WallTime now, bool is_error, std::string_view line) {
  bytes_ += line.size();
  if (lines.size() >= kMostLines || bytes_ > kMostBytes) {
    ++left_out;
    return;
  }
  lines.push_back({now, is_error, as_utf8(line.substr(0, kLongestLine))});
}

void Build::hear(WallTime now, bool is_error, std::string_view bytes) {
  if (is_error != is_error_begun_) end_line(now);
  is_error_begun_ = is_error;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    add(now, is_error, begun_ + std::string{bytes.substr(0, end)});
    begun_.clear();
    bytes.remove_prefix(end + 1);
  }
  // A line that never ends is cut.
  if (begun_.size() + bytes.size() > kLongestLine) end_line(now);
  begun_ += bytes.substr(0, kLongestLine);
}

void Build::end_line(WallTime now) {
  if (!begun_.empty()) add(now, is_error_begun_, begun_);
  begun_.clear();
}

void Build::say(WallTime now, std::string_view text) {
  end_line(now);
  add(now, false, text);
}

Status Builds::make_room(std::string_view tenant) {
  const auto oldest = std::ranges::find_if(builds_, [&](const auto& each) {
    return each->status != BuildStatus::building && (tenant.empty() || each->tenant == tenant);
  });
  if (oldest == builds_.end()) return Error{Errc::exhausted, "too many builds are under way"};
  builds_.erase(oldest);
  return {};
}

Status Builds::add(std::shared_ptr<Build> build) {
  const auto own = std::ranges::count_if(
      builds_, [&](const auto& each) { return each->tenant == build->tenant; });
  if (static_cast<std::size_t>(own) >= kMostKept) {
    TRY_DO(make_room(build->tenant));
  } else if (builds_.size() >= kMost) {
    TRY_DO(make_room({}));
  }
  builds_.push_back(std::move(build));
  return {};
}

std::shared_ptr<Build> Builds::find(std::string_view tenant, std::string_view id) const {
  const auto found = std::ranges::find_if(
      builds_, [&](const auto& each) { return each->id == id && each->tenant == tenant; });
  return found == builds_.end() ? nullptr : *found;
}

bool Builds::is_asked(std::string_view tenant, std::string_view template_id) const {
  return std::ranges::any_of(builds_, [&](const auto& each) {
    return each->tenant == tenant && each->template_id == template_id;
  });
}

Status Builds::may_begin(std::string_view tenant) const {
  std::size_t running = 0;
  std::size_t own = 0;
  for (const auto& each : builds_) {
    if (each->status != BuildStatus::building) continue;
    ++running;
    if (each->tenant == tenant) ++own;
  }
  if (running >= kMostRunning || own >= kMostOfTenant) {
    return Error{Errc::exhausted,
                 "templates: too many builds are under way; try again when one "
                 "has ended"};
  }
  return {};
}

std::string to_json(const Build& build, std::size_t offset) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("templateID", build.template_id);
  json.text("buildID", build.id);
  json.text("status", to_string(build.status));
  json.key("logs");
  json.begin_array();
  json.end_array();
  json.key("logEntries");
  json.begin_array();
  const std::size_t end = std::min(build.lines.size(), offset + kMostTold);
  for (std::size_t at = offset; at < end; ++at) write_line(json, build.lines[at]);
  json.end_array();
  if (build.status == BuildStatus::error) {
    json.key("reason");
    json.begin_object();
    json.text("message", build.failure);
    json.text("step", build.failed_step);
    json.end_object();
  }
  json.end_object();
  return json.take();
}

}  // namespace cordon::api::e2b
