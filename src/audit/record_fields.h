// SPDX-License-Identifier: Apache-2.0
// A record as names and values: for those who look for something in it, or show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "audit/record.h"

namespace cordon::audit {

struct RecordField {
  std::string name;  // as in the record's line; of a list, that of the list
  std::variant<std::string, std::uint64_t> value;
  friend bool operator==(const RecordField&, const RecordField&) = default;
};

// In the order of the line: seq, time_ms, tenant, sandbox, event, and the event's own. A flag is
// "true" or "false"; of a list each item is one, under the list's name.
std::vector<RecordField> fields_of(const Record& record);

// Every name that a record can have, in the order of the alphabet.
const std::vector<std::string>& known_fields();

}  // namespace cordon::audit
