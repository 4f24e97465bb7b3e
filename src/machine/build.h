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

// Ours, by their paths, that are in it.
struct Programs {
  std::string init;      // cordon-init
  std::string recorder;  // cordon-bpf
};

// Of those that are installed: made for clouds, if there is one, and of those the newest.
// `not_found`: there is none.
Result<Kernel> find_kernel();

// What `directory` would be made of, in one line: as long as it is the same, it need not be made
// again.
std::string key_of(const Kernel& kernel, const Programs& programs);

// `vmlinux`, `initramfs` and `key` in `directory`, which is made where missing.
Status build(const Kernel& kernel, const Programs& programs, const std::string& directory);

// Whether it was built of the same.
bool is_built(const Kernel& kernel, const Programs& programs, const std::string& directory);

}  // namespace cordon::machine
