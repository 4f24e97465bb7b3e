// SPDX-License-Identifier: Apache-2.0
#include "monitor/classes.h"

#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

static_assert(bit_of(Class::exec) == CORDON_EXEC && bit_of(Class::writes) == CORDON_WRITES &&
              bit_of(Class::connects) == CORDON_CONNECTS &&
              bit_of(Class::sensitive) == CORDON_SENSITIVE &&
              bit_of(Class::refused) == CORDON_REFUSED);

// Such a file is told for its name alone.
bool is_only_read(const Seen& seen) {
  const auto* const file = std::get_if<SeenFile>(&seen.what);
  return file != nullptr && file->is_opened && (file->flags & CORDON_OPEN_WRITES) == 0;
}

}  // namespace

Classes classes_of(std::span<const std::string> names) {
  Classes all = 0;
  for (const std::string& name : names) {
    if (name == "exec") all |= bit_of(Class::exec);
    if (name == "writes") all |= bit_of(Class::writes);
    if (name == "connects") all |= bit_of(Class::connects);
    if (name == "sensitive") all |= bit_of(Class::sensitive);
    if (name == "refused") all |= bit_of(Class::refused);
  }
  return all;
}

bool is_of(Classes classes, const Seen& seen) {
  Class of = Class::writes;
  if (std::holds_alternative<SeenExec>(seen.what)) of = Class::exec;
  if (is_only_read(seen)) of = Class::sensitive;
  if (std::holds_alternative<SeenConnect>(seen.what)) of = Class::connects;
  // A connection that failed was tried; of all else what failed is told only where it was refused.
  if (seen.result < 0 && of != Class::connects) of = Class::refused;
  return (classes & bit_of(of)) != 0;
}

}  // namespace cordon::monitor
