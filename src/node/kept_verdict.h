// SPDX-License-Identifier: Apache-2.0
// A verdict as the journal keeps it, for whoever asks after the next start.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "record/verdict.h"

namespace cordon::node {

std::string kept_text(const Verdict& verdict);
// `invalid`: not what kept_text() writes.
Result<Verdict> read_verdict(std::string_view text);

}  // namespace cordon::node
