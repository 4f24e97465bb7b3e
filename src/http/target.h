// SPDX-License-Identifier: Apache-2.0
// The target of a request line.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "http/head.h"

namespace cordon::http {

// Reads `text`, which stands at byte `at` of the head. The kind must be one that `method` has. A
// path keeps its spelling: what was judged is what is forwarded, and policy refuses the spellings
// that it cannot judge (`//`, `;`, needless escapes). Refused here, whatever the policy: fragments,
// bytes that no URL has, broken escapes and escaped control characters in the path, backslashes in
// it, and `.` and `..` segments however they are spelt. The query is any printing ASCII: nothing is
// decided by it.
Result<Target> parse_target(std::string_view method, std::string_view text, std::size_t at);

// Whether the request's Host says the same as its target. An origin target says nothing.
bool agrees(const Authority& host, const Target& target) noexcept;

// The same request as a server wants it that is no proxy: an absolute target becomes its path.
RequestHead in_origin_form(RequestHead head);

}  // namespace cordon::http
