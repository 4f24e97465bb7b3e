// SPDX-License-Identifier: Apache-2.0
// What a program did or tried, as a question that any policy can be asked again. Owns what the
// queries only view.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "policy/explain.h"
#include "record/denial.h"

namespace cordon::policy {

struct PathAct {
  Access access = Access::read;
  std::string path;  // absolute, as it was judged
  friend auto operator<=>(const PathAct&, const PathAct&) = default;
};
struct NetAct {
  std::string host;
  std::uint16_t port = 443;
  std::string method;  // empty: the connection itself
  std::string path;
  bool is_lookup = false;  // nobody knows which port was meant: 443 is assumed
  friend auto operator<=>(const NetAct&, const NetAct&) = default;
};
using Act = std::variant<PathAct, NetAct>;

// The act that was refused, by the words of its denial. Nothing: it was none of a file or a host,
// or what is told of it is not enough to ask about it again.
std::optional<Act> act_of(const Denial& denial);

// "write", "net".
std::string_view kind_of(const Act& act);
// "/srv/x", "api.example.com:443", "POST api.example.com:443/issues".
std::string words_of(const Act& act);

// `workspace`: where it is inside, for policies that do not say it.
Decision decide(const Policy& policy, const Act& act, std::string_view workspace);
Explanation explain(const Policy& policy, const Act& act, std::string_view workspace);

}  // namespace cordon::policy
