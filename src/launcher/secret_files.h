// SPDX-License-Identifier: Apache-2.0
// The files of a tenant's store of secrets: opened here, read and written by its broker alone.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

struct SecretFiles {
  os::Fd store;
  os::Fd key;  // to be read
};

// In `directory`, which is ours alone: `TENANT.store` and `TENANT.key`, made where there is none.
// `denied`: one of them is a link, or not ours.
Result<SecretFiles> open_secret_files(const os::Fd& directory, const std::string& tenant);

}  // namespace cordon::launcher
