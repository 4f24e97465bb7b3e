// SPDX-License-Identifier: Apache-2.0
#include "monitor/classes.h"

namespace cordon::monitor {

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

}  // namespace cordon::monitor
