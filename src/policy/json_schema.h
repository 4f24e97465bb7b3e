// SPDX-License-Identifier: Apache-2.0
// The vocabulary as JSON Schema, for editors and for programs that write policies.
#pragma once

#include <string>

namespace cordon::policy {

// Made from the table of keys; docs/policy.schema.json is this text.
std::string json_schema();

}  // namespace cordon::policy
