// SPDX-License-Identifier: Apache-2.0
// Makes a machine's kernel and first file system of what the host has installed.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace cordon::machine {

struct Kernel {
  std::string file;     // vmlinuz
  std::string modules;  // its directory below /lib/modules
};

// Of those that are installed: made for clouds, if there is one, and of those the newest.
// `not_found`: there is none.
Result<Kernel> find_kernel();

// What `directory` would be made of, in one line: as long as it is the same, it need not be made
// again.
std::string key_of(const Kernel& kernel, const std::string& init);

// `vmlinux`, `initramfs` and `key` in `directory`, which is made where missing. `init`:
// cordon-init.
Status build(const Kernel& kernel, const std::string& init, const std::string& directory);

// Whether it was built of the same.
bool is_built(const Kernel& kernel, const std::string& init, const std::string& directory);

}  // namespace cordon::machine
