// SPDX-License-Identifier: Apache-2.0
#include "fleet/index_key.h"

#include <fmt/format.h>

#include "fleet/summary.h"
#include "policy/problem.h"
#include "policy/value.h"
#include "wire/json_writer.h"

namespace cordon::fleet {

std::string index_key_of(std::uint16_t cell) { return fmt::format("/cordon/cells/{}/index", cell); }

std::string audience_of_index(std::uint16_t cell) { return fmt::format("index-{}", cell); }

std::string encode(const IndexPlace& place) {
  wire::JsonWriter json;
  json.begin_object();
  json.text("address", place.address);
  json.number("number", place.number);
  json.end_object();
  return json.take();
}

Result<IndexPlace> decode_index(std::string_view text) {
  policy::Problems problems{"index"};
  auto read = policy::read_json(text, problems);
  if (!read) return Error{Errc::invalid, read.error().text()};
  if (read->table() == nullptr) return Error{Errc::invalid, "an index: no object"};
  const policy::Value* const address = read->find("address");
  const policy::Value* const number = read->find("number");
  if (address == nullptr || address->text() == nullptr) {
    return Error{Errc::invalid, "an index: `address` is missing or wrong"};
  }
  TRY_DO(check_address(*address->text()));
  if (number == nullptr || number->integer() == nullptr || *number->integer() < 1) {
    return Error{Errc::invalid, "an index: `number` is missing or wrong"};
  }
  return IndexPlace{.address = *address->text(),
                    .number = static_cast<std::uint64_t>(*number->integer())};
}

}  // namespace cordon::fleet
