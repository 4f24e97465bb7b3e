// SPDX-License-Identifier: Apache-2.0
// Text to PolicyDocument. One schema for TOML and JSON.
#pragma once

#include <string>
#include <string_view>

#include "policy/document.h"
#include "policy/problem.h"
#include "policy/value.h"

namespace cordon::policy {

enum class Syntax : std::uint8_t { toml, json };

// JSON for a name that ends in ".json" or a text that begins with `{`, otherwise TOML.
Syntax syntax_of(std::string_view file, std::string_view text) noexcept;

// `file` is the name shown in messages and explanations. On failure the Error is the first problem;
// all of them are in `problems` where it is given.
Result<PolicyDocument> parse(std::string_view text, std::string file, Syntax syntax,
                             Problems* problems = nullptr);

// The same for a document that is a part of another: a table of a request.
Result<PolicyDocument> parse(const Value& tree, std::string file, Problems& problems);

}  // namespace cordon::policy
