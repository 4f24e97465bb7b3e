// SPDX-License-Identifier: Apache-2.0
// One change of a document's text that leaves all the rest as a person wrote it: comments, order
// and spelling.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/explain.h"

namespace cordon::policy {

// `text` with an `add` or a `set` made. The key is "SECTION.NAME"; or "SECTION.LIST[].NAME" for a
// key of the item that begins in the line of `at`. A list that is not there is begun, and so is its
// section.
// Errors: invalid where the text is no TOML, and where only a person can tell how: other edits, two
// items in one line, a list that is written as `[[SECTION.LIST]]`.
Result<std::string> edited(std::string_view text, const Change& change);

}  // namespace cordon::policy
