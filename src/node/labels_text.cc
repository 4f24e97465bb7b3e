// SPDX-License-Identifier: Apache-2.0
#include "node/labels_text.h"

#include <boost/json/parse.hpp>

#include "wire/json_writer.h"

namespace cordon::node {

std::string labels_text(const Labels& labels) {
  wire::JsonWriter json;
  json.begin_object();
  for (const auto& [name, value] : labels) json.text(name, value);
  json.end_object();
  return json.take();
}

Result<Labels> read_labels(std::string_view text) {
  boost::system::error_code error;
  const auto value = boost::json::parse(text, error);
  const Error broken{Errc::invalid, "labels: not an object of texts"};
  if (error || !value.is_object()) return broken;
  Labels labels;
  for (const auto& entry : value.get_object()) {
    if (!entry.value().is_string()) return broken;
    labels.emplace(entry.key(), entry.value().get_string());
  }
  return labels;
}

}  // namespace cordon::node
