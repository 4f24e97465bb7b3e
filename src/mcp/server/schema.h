// SPDX-License-Identifier: Apache-2.0
// Values against the part of JSON Schema that our tools are declared in. (pure)
#pragma once

#include "base/result.h"
#include "mcp/server/json_rpc.h"

namespace cordon::mcp::server {

// Known: type (one or several), properties, required, additionalProperties, items, enum, minimum,
// maximum, minItems, maxItems and maxLength. `invalid`: the first thing that does not fit, with its
// place.
Status fits(const json::object& schema, const json::value& value);

}  // namespace cordon::mcp::server
