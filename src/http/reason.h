// SPDX-License-Identifier: Apache-2.0
// The words after a status.
#pragma once

#include <string_view>

namespace cordon::http {

// Of the registry of HTTP statuses; empty for numbers that it does not have.
std::string_view usual_reason(int status) noexcept;

}  // namespace cordon::http
