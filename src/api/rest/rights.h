// SPDX-License-Identifier: Apache-2.0
// Whether a bearer may have a route served: what is asked of its authority before anything else.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/call.h"
#include "api/rest/routes.h"
#include "base/result.h"
#include "token/authority.h"

namespace cordon::api {

// One request as far as its right goes. All outlive it.
struct Asked {
  const Route& route;
  const std::vector<std::string>& places;  // what stands at the braces of the route
  const Query& query;
  std::string_view tenant;  // whose things are meant; empty: of every tenant
};

// `denied`: the authority lacks the route's operation, its sandbox or a path that it names.
// `not_found`: a sandbox of another tenant, which is answered as if it did not exist.
Status authorise(const token::Authority& authority, const Asked& asked,
                 std::chrono::sys_seconds now);
// A right that a handler asks for beside that of its route. `hides`: a thing of another tenant is
// answered as if it did not exist.
Status authorise(const token::Authority& authority, const token::Query& query, bool hides,
                 std::chrono::sys_seconds now);

}  // namespace cordon::api
