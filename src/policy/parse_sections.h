// SPDX-License-Identifier: Apache-2.0
// The sections of a document, each read by a function of its own. What is wrong goes to the
// section's problems.
#pragma once

#include <vector>

#include "policy/document.h"
#include "policy/section.h"

namespace cordon::policy {

Filesystem parse_filesystem(const Section& section);
Environment parse_environment(const Section& section);
Process parse_process(const Section& section);
Network parse_network(const Section& section);
Resources parse_resources(const Section& section);
Credentials parse_credentials(const Section& section);
std::vector<ToolServer> parse_tools(const Section& section);
std::vector<Requirement> parse_require(const Section& top);
std::vector<Response> parse_responses(const Section& top);

// A letter or `_`, then letters, digits and `_`; at most 128.
bool is_variable_name(std::string_view name);

// HTTP path patterns: absolute, checked as path patterns; "/**" is all paths.
std::vector<std::string> parse_url_paths(const Section& section);

}  // namespace cordon::policy
