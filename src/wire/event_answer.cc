// SPDX-License-Identifier: Apache-2.0
#include "wire/event_answer.h"

#include "base/time_text.h"
#include "wire/json_writer.h"
#include "wire/record_json.h"

namespace cordon::wire {

std::string event_line(const EventAnswer& event) {
  JsonWriter json;
  json.begin_object();
  json.text("event", event.event);
  json.text("cursor", event.cursor);
  json.text("time", to_text(event.at));
  json.text("tenant", event.tenant);
  json.text("sandbox", event.sandbox);
  if (event.process) json.number("process", std::uint64_t{*event.process});
  if (event.pid != 0) json.number("pid", std::uint64_t{event.pid});
  if (!event.program.empty()) json.bytes("command", event.program);
  if (event.exit) {
    json.number(event.exit->by_signal ? "signal" : "code", std::uint64_t{event.exit->value});
  }
  if (!event.failure.empty()) json.text("failure", event.failure);
  if (event.verdict) {
    json.key("verdict");
    write(json, *event.verdict);
  }
  if (event.denial) {
    json.key("denial");
    write(json, *event.denial);
  }
  json.end_object();
  return json.take() + "\n";
}

std::string lost_line(const std::string& cursor, std::optional<std::uint64_t> count) {
  JsonWriter json;
  json.begin_object();
  json.text("event", "lost");
  json.text("cursor", cursor);
  if (count) json.number("count", *count);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace cordon::wire
