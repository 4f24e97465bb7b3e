// SPDX-License-Identifier: Apache-2.0
#include "policy/place.h"

namespace cordon::policy {

std::string_view to_string(Origin origin) noexcept {
  switch (origin) {
    case Origin::builtin:
      return "builtin";
    case Origin::site:
      return "site";
    case Origin::user:
      return "user";
    case Origin::request:
      return "request";
    case Origin::workspace:
      return "workspace";
  }
  return "request";
}

std::optional<Origin> origin_from(std::string_view text) noexcept {
  for (const Origin origin :
       {Origin::builtin, Origin::site, Origin::user, Origin::request, Origin::workspace}) {
    if (text == to_string(origin)) return origin;
  }
  return std::nullopt;
}

}  // namespace cordon::policy
