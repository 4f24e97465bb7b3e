// SPDX-License-Identifier: Apache-2.0
#include "plan/environment.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace cordon::plan {
namespace {

bool is_fit(std::string_view name, std::string_view value) {
  return !name.empty() && name.find('=') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && value.find('\0') == std::string_view::npos;
}

}  // namespace

std::vector<std::string> environment_of(const Request& request, const Identity& identity,
                                        const std::vector<std::string>& image) {
  using Variables = std::map<std::string, std::string>;
  Variables given;
  for (const auto& [name, value] : request.situation.environment) {
    if (!is_fit(name, value)) {
      request.refusals.add(Errc::invalid, "ENVIRONMENT",
                           {.tried = "the caller's environment",
                            .rule = "default",
                            .why = "a variable has an empty name, or a name with `=` or NUL",
                            .fix = {}});
      continue;
    }
    if (request.policy.decide_variable(name).allowed()) given.try_emplace(name, value);
  }
  Variables set;
  for (const auto& checked : request.policy.documents()) {
    for (const policy::Variable& variable : checked->document().environment.set.items) {
      if (!request.policy.decide_variable(variable.name).allowed()) continue;
      (checked->narrows_only() ? given : set).try_emplace(variable.name, variable.value);
    }
  }
  // Earlier ones win.
  set.merge(given);
  Variables asked;
  for (const std::string& line : image) {
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string name = line.substr(0, equals);
    // Who it is and where it is at home are the sandbox's to say.
    const bool is_ours = name == "HOME" || name == "USER" || name == "LOGNAME" || name == "SHELL" ||
                         name.starts_with("CORDON");
    if (equals < line.size() && is_fit(name, line) && !is_ours) {
      asked.try_emplace(name, line.substr(equals + 1));
    }
  }
  set.merge(asked);
  set.merge(Variables{{"CORDON", "1"},
                      {"CORDON_SANDBOX", request.situation.id.text()},
                      {"HOME", identity.home},
                      {"LOGNAME", identity.name},
                      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                      {"SHELL", "/bin/sh"},
                      {"USER", identity.name}});
  std::vector<std::string> lines;
  for (const auto& [name, value] : set) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

}  // namespace cordon::plan
