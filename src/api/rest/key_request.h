// SPDX-License-Identifier: Apache-2.0
// What a client wants an API key to be, and caveats as JSON: each as `cordon token inspect --json`
// prints it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/problem.h"
#include "token/authority.h"
#include "wire/json_writer.h"

namespace cordon::api {

struct KeyRequest {
  std::string label;
  bool is_operator = false;  // for every tenant, and the node itself
  std::vector<token::Caveat> caveats;
};

// Strict, as all requests are (wire/requests.h). `now`: from which `expires_in_seconds` counts.
Result<KeyRequest> read_key_request(std::string_view text, std::chrono::sys_seconds now,
                                    policy::Problems& problems);

// A list, as the value of the key that was written last.
void write_caveats(wire::JsonWriter& json, const std::vector<token::Narrowed>& caveats);

}  // namespace cordon::api
