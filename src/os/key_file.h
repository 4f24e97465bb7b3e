// SPDX-License-Identifier: Apache-2.0
// Files that hold a key, and those beside it: the caller's alone.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Opens `name` in `directory`, which is the caller's alone, for reading; makes it of `size` random
// bytes where there is none. `denied`: it is a link, or others may reach it.
Result<Fd> open_key_file(const Fd& directory, const std::string& name, std::size_t size);

// Opens it for reading and writing; makes an empty one where there is none. `denied` as above.
Result<Fd> open_kept_file(const Fd& directory, const std::string& name);

}  // namespace cordon::os
