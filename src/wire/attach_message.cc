// SPDX-License-Identifier: Apache-2.0
#include "wire/attach_message.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"
#include "policy/keys.h"
#include "policy/section.h"
#include "policy/shape.h"
#include "policy/value.h"
#include "wire/json_writer.h"
#include "wire/problem_answer.h"
#include "wire/signal_name.h"

namespace cordon::wire {
namespace {

using policy::Key;
using policy::Kind;
using policy::Section;
using policy::Value;

constexpr std::size_t kOutputHead = 9;

constexpr Key kType{"type", Kind::choice, "what it says", "acknowledge input end resize signal"};
constexpr std::array kAcknowledgeKeys = {
    kType, Key{"stdout", Kind::integer, "bytes that are safe", {}, 0, INT64_MAX},
    Key{"stderr", Kind::integer, "bytes that are safe", {}, 0, INT64_MAX}};
constexpr std::array kInputKeys = {kType, Key{"data", Kind::any, "text"},
                                   Key{"data_base64", Kind::any, "bytes in base64"}};
constexpr std::array kEndKeys = {kType};
constexpr std::array kResizeKeys = {
    kType, Key{"rows", Kind::integer, "of the terminal", {}, 1, kMostTerminalSide},
    Key{"cols", Kind::integer, "of the terminal", {}, 1, kMostTerminalSide}};
constexpr std::array kSignalMessageKeys = {kType, Key{"signal", Kind::any, "a name or a number"},
                                           Key{"group", Kind::boolean, "all that it started"}};

Result<AttachMessage> read_input(const Section& top) {
  const Value* const text = top.find("data");
  const Value* const coded = top.find("data_base64");
  if ((text == nullptr) == (coded == nullptr)) {
    return Error{Errc::invalid, "`input` has either `data` or `data_base64`"};
  }
  const std::string* const given = (text != nullptr ? text : coded)->text();
  if (given == nullptr) return Error{Errc::invalid, "the data of `input` is a text"};
  if (text != nullptr) return AttachMessage{InputMessage{*given}};
  auto bytes = from_base64(*given);
  if (!bytes) return Error{Errc::invalid, "`data_base64` is no base64 with padding"};
  return AttachMessage{InputMessage{*std::move(bytes)}};
}

Result<AttachMessage> read_resize(const Section& top) {
  const auto rows = top.integer("rows");
  const auto columns = top.integer("cols");
  if (!rows || !columns) return Error{Errc::invalid, "`resize` has `rows` and `cols`"};
  return AttachMessage{ResizeMessage{
      {static_cast<std::uint16_t>(rows->value), static_cast<std::uint16_t>(columns->value)}}};
}

Result<AttachMessage> read_signal(const Section& top) {
  SignalRequest request{.number = signal_in(top)};
  if (const auto group = top.boolean("group")) request.to_group = group->value;
  return AttachMessage{request};
}

struct MessageRow {
  std::string_view type;
  std::span<const Key> keys;
  Result<AttachMessage> (*read)(const Section&);
};
constexpr MessageRow kMessageRows[] = {
    {"acknowledge", kAcknowledgeKeys,
     [](const Section& top) -> Result<AttachMessage> {
       const auto out = top.integer("stdout");
       const auto err = top.integer("stderr");
       return AttachMessage{AcknowledgeMessage{out ? out->value : 0, err ? err->value : 0}};
     }},
    {"input", kInputKeys, read_input},
    {"end", kEndKeys,
     [](const Section&) -> Result<AttachMessage> { return AttachMessage{EndMessage{}}; }},
    {"resize", kResizeKeys, read_resize},
    {"signal", kSignalMessageKeys, read_signal},
};

void write(JsonWriter& json, const AcknowledgeMessage& message) {
  json.text("type", "acknowledge");
  json.number("stdout", message.out);
  json.number("stderr", message.err);
}
void write(JsonWriter& json, const InputMessage& message) {
  json.text("type", "input");
  json.bytes("data", message.bytes);
}
void write(JsonWriter& json, const EndMessage&) { json.text("type", "end"); }
void write(JsonWriter& json, const ResizeMessage& message) {
  json.text("type", "resize");
  json.number("rows", std::uint64_t{message.size.rows});
  json.number("cols", std::uint64_t{message.size.columns});
}
void write(JsonWriter& json, const SignalRequest& message) {
  json.text("type", "signal");
  json.number("signal", std::uint64_t{message.number});
  json.boolean("group", message.to_group);
}

}  // namespace

Result<AttachMessage> read_attach_message(std::string_view text) {
  policy::Problems problems{"message"};
  TRY(const Value tree, policy::read_json(text, problems, policy::Controls::kept));
  const Value* const type = tree.table() == nullptr ? nullptr : tree.find("type");
  const std::string* const name = type == nullptr ? nullptr : type->text();
  for (const MessageRow& row : kMessageRows) {
    if (name == nullptr || *name != row.type) continue;
    policy::check_shape(tree, problems, row.keys);
    if (!problems.empty()) return problems.to_error();
    TRY(AttachMessage message, row.read(Section{&tree, problems}));
    if (!problems.empty()) return problems.to_error();
    return message;
  }
  return Error{Errc::invalid, fmt::format("`type` is one of: {}", kType.choices)};
}

std::string to_json(const AttachMessage& message) {
  JsonWriter json;
  json.begin_object();
  std::visit([&](const auto& one) { write(json, one); }, message);
  json.end_object();
  return json.take();
}

std::string input_event(std::uint64_t taken) {
  JsonWriter json;
  json.begin_object();
  json.text("event", "input");
  json.number("offset", taken);
  json.end_object();
  return json.take();
}

std::string error_event(const Error& error) {
  const ProblemAnswer problem = problem_of(error);
  JsonWriter json;
  json.begin_object();
  json.text("event", "error");
  json.text("code", problem.code);
  json.text("detail", problem.detail);
  json.end_object();
  return json.take();
}

std::string to_bytes(const OutputFrame& frame) {
  std::string bytes;
  bytes.reserve(kOutputHead + frame.bytes.size());
  bytes += frame.is_error ? '\1' : '\0';
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((frame.offset >> static_cast<unsigned>(shift)) & 0xFFU);
  }
  return bytes.append(frame.bytes);
}

Result<OutputFrame> read_output_frame(std::string_view bytes) {
  if (bytes.size() < kOutputHead || static_cast<unsigned char>(bytes[0]) > 1) {
    return Error{Errc::invalid, "this is no frame of output"};
  }
  OutputFrame frame{.is_error = bytes[0] == '\1', .bytes = bytes.substr(kOutputHead)};
  for (const char c : bytes.substr(1, 8)) {
    frame.offset = frame.offset << 8U | static_cast<unsigned char>(c);
  }
  return frame;
}

}  // namespace cordon::wire
