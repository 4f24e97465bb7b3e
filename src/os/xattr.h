// SPDX-License-Identifier: Apache-2.0
// Extended attributes of an open file of any type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// The names this process may see (trusted.* only with CAP_SYS_ADMIN); none where the filesystem
// keeps no attributes. `fd` may be O_PATH, also of a link or a device.
Result<std::vector<std::string>> list_xattr(const Fd& fd);
// Errors: not_found when it has none of that name, exhausted above 64 KiB.
Result<std::string> get_xattr(const Fd& fd, const char* name);
Status set_xattr(const Fd& fd, const char* name, std::string_view value);

}  // namespace cordon::os
