// SPDX-License-Identifier: Apache-2.0
// Labels as the journal keeps them: one JSON object of texts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "node/resident.h"

namespace cordon::node {

std::string labels_text(const Labels& labels);
// `invalid`: not what labels_text() writes.
Result<Labels> read_labels(std::string_view text);

}  // namespace cordon::node
