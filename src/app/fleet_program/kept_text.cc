// SPDX-License-Identifier: Apache-2.0
#include "app/fleet_program/kept_text.h"

#include "os/directory.h"
#include "os/file.h"

namespace cordon::fleet_program {

Status keep_text(const os::Fd& directory, const std::string& name, std::string_view text) {
  const std::string part = name + ".new";
  // Of a predecessor that died while it wrote; mostly there is none.
  static_cast<void>(os::unlinkat(directory, part.c_str()));
  TRY_DO(os::create_file(directory, part.c_str(), text, 0600));
  return os::renameat(directory, part.c_str(), directory, name.c_str(), os::Replace::allow);
}

}  // namespace cordon::fleet_program
