// SPDX-License-Identifier: Apache-2.0
#include "gate/origin.h"

#include <algorithm>

#include "http/upgrade.h"

namespace cordon::gate {

Status check_origin(const http::RequestHead& head, const std::vector<std::string>& allowed) {
  constexpr std::string_view kField = "Origin";
  if (!http::asks_upgrade(head) || http::count(head.fields, kField) == 0) return {};
  // `null` stands for pages of no origin, and is never one that was named.
  const auto origin = http::only(head.fields, kField);
  if (origin && std::ranges::find(allowed, *origin) != allowed.end()) return {};
  return Error{Errc::denied,
               "Origin: pages of this origin open no WebSocket here; the operator names those that "
               "may in `listen.origins`"};
}

}  // namespace cordon::gate
