// SPDX-License-Identifier: Apache-2.0
// What is kept for the next start: whole, or as it was before.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::fleet_program {

// `directory` is ours alone.
Status keep_text(const os::Fd& directory, const std::string& name, std::string_view text);

}  // namespace cordon::fleet_program
