// SPDX-License-Identifier: Apache-2.0
// A refusal as the client reads it: for a program, an agent and a person.
#pragma once

#include <string>
#include <string_view>

#include "egress/http_gate.h"
#include "http/head.h"
#include "http/serialise.h"

namespace cordon::egress {

// Text of at most 500 characters in which nothing is hidden: printing ASCII, lines of it, and `?`
// for all else.
std::string safe_text(std::string_view text);

// The whole message. `asked`: an answer to HEAD has no body. The body begins with "cordon: ".
std::string refusal_answer(const HttpRefusal& refusal, std::string_view method,
                           http::Version version, http::After after);

}  // namespace cordon::egress
