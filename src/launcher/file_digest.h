// SPDX-License-Identifier: Apache-2.0
// What is in a file, in one word.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// "sha256:" and 64 hexadecimal digits, of all its bytes, wherever the descriptor stands. Before: it
// is open for reading.
Result<std::string> digest_of(const os::Fd& file);
// Whether `text` is spelled like that.
bool is_digest(std::string_view text);

}  // namespace cordon::launcher
