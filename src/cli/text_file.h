// SPDX-License-Identifier: Apache-2.0
// Small files that a person named.
#pragma once

#include <string>

#include "base/result.h"

namespace cordon::cli {

// The whole of `path`, or of standard input for "-". At most 1 MiB; directories and disks
// are refused.
Result<std::string> read_text_file(const std::string& path);

}  // namespace cordon::cli
