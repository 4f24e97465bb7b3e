// SPDX-License-Identifier: Apache-2.0
// What each kind of isolation promises, and what none does. (pure)
#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

namespace cordon::cli {

// `isolation`: as API v1 names it; another name promises nothing.
std::string promises_text(std::string_view isolation);
boost::json::object promises_json(std::string_view isolation);

}  // namespace cordon::cli
