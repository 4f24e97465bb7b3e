// SPDX-License-Identifier: Apache-2.0
// A tree as one file that the kernel mounts.
#pragma once

#include <string>

#include "base/result.h"

namespace cordon::image {

// Makes `file` from the tree at `directory`. False, and no file: this host makes none, or this
// caller could not mount it.
Result<bool> make_erofs(const std::string& directory, const std::string& file);

// "sha256:…" of all its bytes.
Result<std::string> digest_of_file(const std::string& file);

}  // namespace cordon::image
