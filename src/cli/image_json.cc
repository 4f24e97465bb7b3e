// SPDX-License-Identifier: Apache-2.0
#include "cli/image_json.h"

#include "wire/json_writer.h"

namespace cordon::cli {
namespace {

void add_texts(wire::JsonWriter& json, std::string_view name,
               const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& each : texts) json.text(each);
  json.end_array();
}

}  // namespace

std::string image_json(const image::Image& image) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("name", image.name);
  json.text("digest", image.digest);
  json.text("source", image.source);
  add_texts(json, "layers", image.layers);
  json.text("root", image.form == image::RootForm::erofs ? "erofs" : "directory");
  if (!image.file.digest.empty()) json.text("root_digest", image.file.digest);
  json.number("bytes", image.bytes);
  json.number("files", image.entries);
  json.number("left_out", image.left_out);
  json.number("made_ms", image.made_ms);
  json.key("config");
  json.begin_object();
  json.text("user", image.config.user);
  json.text("directory", image.config.directory);
  add_texts(json, "environment", image.config.environment);
  add_texts(json, "entrypoint", image.config.entrypoint);
  add_texts(json, "command", image.config.command);
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace cordon::cli
