// SPDX-License-Identifier: Apache-2.0
#include "audit/log_directory.h"

#include <fcntl.h>

#include "os/directory.h"
#include "os/file.h"

namespace cordon::audit {

Result<os::Fd> make_log_directory(const os::Fd& state) {
  const Status made = os::mkdirat(state, kLogDirectory, 0700);
  if (!made && made.error().code() != Errc::exists) return Error{made.error()}.with("audit log");
  auto opened = os::openat(state, kLogDirectory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened) return std::move(opened).error().with("audit log");
  return opened;
}

}  // namespace cordon::audit
