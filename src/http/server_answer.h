// SPDX-License-Identifier: Apache-2.0
// What the server itself answers, where no handler does.
#pragma once

#include <string>
#include <string_view>

#include "http/head.h"

namespace cordon::http {

// A stable word for each status that the server answers: "body_too_large".
std::string_view problem_code(int status) noexcept;

// {"code": ..., "detail": ...}, to be sent as kProblemType.
std::string problem_body(int status, std::string_view detail);
Fields problem_fields();

// The whole answer, after which the connection ends; for where no request was read.
std::string problem_answer(int status, std::string_view detail);

}  // namespace cordon::http
