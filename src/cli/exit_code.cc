// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

namespace cordon::cli {

Exit exit_of(Errc code) noexcept {
  switch (code) {
    case Errc::invalid:
    case Errc::denied:
    case Errc::exists:
      return Exit::no;
    case Errc::not_found:
      return Exit::not_found;
    case Errc::exhausted:
    case Errc::timeout:
    case Errc::unavailable:
    case Errc::unrecorded:
      return Exit::unavailable;
    case Errc::internal:
      return Exit::internal;
  }
  return Exit::internal;
}

}  // namespace cordon::cli
