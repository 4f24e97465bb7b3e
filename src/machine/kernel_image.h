// SPDX-License-Identifier: Apache-2.0
// The kernel itself inside the file that a boot loader takes. (pure)
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::machine {

// An ELF file: what a machine begins with at once, without unpacking it by itself. `file`: a
// bzImage of x86, or such an ELF file already.
Result<std::string> kernel_of(std::string_view file);

}  // namespace cordon::machine
