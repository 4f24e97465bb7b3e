// SPDX-License-Identifier: Apache-2.0
// Times are milliseconds since 1970; strings are bytes as they were, UTF-8 or not.
#include "review/run_record.h"

#include <concepts>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace cordon::review {
namespace {

namespace json = boost::json;

Error wrong(std::string_view key) {
  return Error{Errc::invalid, "run.json: `" + std::string{key} + "` is missing or of another kind"};
}

Result<std::string> text_of(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  if (found == nullptr || !found->is_string()) return wrong(key);
  return std::string{std::string_view{found->get_string()}};
}

template <std::integral T>
Result<T> number_of(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  if (found == nullptr || !found->is_number()) return wrong(key);
  json::error_code error;
  const T value = found->to_number<T>(error);
  if (error) return wrong(key);
  return value;
}

Result<std::optional<WallTime>> maybe_time_of(const json::object& object, std::string_view key) {
  if (!object.contains(key)) return std::optional<WallTime>{};
  TRY(const auto value, number_of<std::int64_t>(object, key));
  return std::optional{WallTime{std::chrono::milliseconds{value}}};
}

Result<std::vector<std::string>> command_of(const json::object& object) {
  const json::value* const found = object.if_contains("command");
  if (found == nullptr || !found->is_array()) return wrong("command");
  std::vector<std::string> words;
  for (const json::value& word : found->get_array()) {
    if (!word.is_string()) return wrong("command");
    words.emplace_back(std::string_view{word.get_string()});
  }
  return words;
}

Result<OverlayMarks> marks_of(const json::object& object) {
  TRY(const std::string text, text_of(object, "overlay_marks"));
  if (text == to_string(OverlayMarks::trusted)) return OverlayMarks::trusted;
  if (text == to_string(OverlayMarks::user)) return OverlayMarks::user;
  return wrong("overlay_marks");
}

}  // namespace

std::string_view to_string(OverlayMarks marks) noexcept {
  return marks == OverlayMarks::trusted ? "trusted" : "user";
}

std::string to_json(const RunRecord& record) {
  json::array command;
  for (const std::string& word : record.command) command.emplace_back(word);
  json::object object;
  object["id"] = record.id.text();
  object["command"] = std::move(command);
  object["workspace"] = record.workspace;
  object["device"] = record.device;
  object["inode"] = record.inode;
  object["started_ms"] = record.started.time_since_epoch().count();
  if (record.ended) object["ended_ms"] = record.ended->time_since_epoch().count();
  object["verdict"] = record.verdict;
  if (record.expires) object["expires_ms"] = record.expires->time_since_epoch().count();
  object["overlay_marks"] = to_string(record.marks);
  return json::serialize(object) + "\n";
}

Result<RunRecord> parse_run_record(std::string_view text) {
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // a path and a command are bytes
  json::error_code error;
  const json::value value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) return Error{Errc::invalid, "run.json: not a JSON object"};
  const json::object& object = value.get_object();
  TRY(const std::string id_text, text_of(object, "id"));
  TRY(RunId id, RunId::parse(id_text));
  TRY(auto command, command_of(object));
  TRY(std::string workspace, text_of(object, "workspace"));
  TRY(const auto device, number_of<std::uint64_t>(object, "device"));
  TRY(const auto inode, number_of<std::uint64_t>(object, "inode"));
  TRY(const auto started, number_of<std::int64_t>(object, "started_ms"));
  TRY(const auto ended, maybe_time_of(object, "ended_ms"));
  TRY(std::string verdict, text_of(object, "verdict"));
  TRY(const auto expires, maybe_time_of(object, "expires_ms"));
  TRY(const OverlayMarks marks, marks_of(object));
  return RunRecord{.id = std::move(id),
                   .command = std::move(command),
                   .workspace = std::move(workspace),
                   .device = device,
                   .inode = inode,
                   .started = WallTime{std::chrono::milliseconds{started}},
                   .ended = ended,
                   .verdict = std::move(verdict),
                   .expires = expires,
                   .marks = marks};
}

}  // namespace cordon::review
