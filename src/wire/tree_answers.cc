// SPDX-License-Identifier: Apache-2.0
#include "wire/tree_answers.h"

#include "wire/json_writer.h"

namespace cordon::wire {

std::string tree_json(std::uint64_t entries, std::uint64_t bytes) {
  JsonWriter json;
  json.begin_object();
  json.number("entries", entries);
  json.number("bytes", bytes);
  json.end_object();
  return json.take();
}

std::string watch_line(const WatchAnswer& change) {
  JsonWriter json;
  json.begin_object();
  json.text("event", change.event);
  json.bytes("name", change.name);
  json.boolean("directory", change.is_directory);
  if (change.move != 0) json.number("move", std::uint64_t{change.move});
  json.end_object();
  return json.take() + "\n";
}

std::string watch_mark_line(std::string_view event) {
  JsonWriter json;
  json.begin_object();
  json.text("event", event);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace cordon::wire
