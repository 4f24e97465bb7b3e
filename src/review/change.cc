// SPDX-License-Identifier: Apache-2.0
#include "review/change.h"

namespace cordon::review {

std::string_view to_string(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::deleted:
      return "deleted";
    case ChangeKind::type_changed:
      return "type_changed";
    case ChangeKind::modified:
      return "modified";
    case ChangeKind::mode_changed:
      return "mode_changed";
    case ChangeKind::added:
      return "added";
  }
  return "modified";
}

char letter_of(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::deleted:
      return 'D';
    case ChangeKind::type_changed:
      return 'T';
    case ChangeKind::modified:
      return 'M';
    case ChangeKind::mode_changed:
      return 'P';
    case ChangeKind::added:
      return 'A';
  }
  return 'M';
}

}  // namespace cordon::review
