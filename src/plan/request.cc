// SPDX-License-Identifier: Apache-2.0
#include "plan/request.h"

#include <fmt/format.h>

namespace cordon::plan {

std::string Request::with_flag(std::string_view flag) const {
  const Typed& typed = situation.typed;
  std::string text = fmt::format("{} {}", typed.before, flag);
  if (!typed.after.empty()) text += ' ' + typed.after;
  return text;
}

std::string Request::show(const policy::PolicyDocument& document, policy::Place place) {
  const std::string& name = document.sources[place.source].name;
  constexpr std::string_view kPreset = "preset:";
  if (name.starts_with(kPreset)) return "cordon policy show " + name.substr(kPreset.size());
  // What flags state is no file: whoever typed them knows where.
  if (name.find(' ') != std::string::npos) return {};
  return "cordon policy explain " + name;
}

std::string workspace_of(const policy::Policy& policy, const Situation& situation,
                         Refusals& refusals) {
  const policy::PolicyDocument* by = nullptr;
  policy::Stated<std::string> first{};
  for (const auto& checked : policy.documents()) {
    const policy::PolicyDocument& document = checked->document();
    if (!document.filesystem.workspace) continue;
    const policy::Stated<std::string>& stated = *document.filesystem.workspace;
    if (by == nullptr) {
      by = &document;
      first = stated;
    } else if (first.value != stated.value) {
      refusals.add(Errc::invalid, "WORKSPACE",
                   {.tried = fmt::format("filesystem.workspace = \"{}\"", stated.value),
                    .rule = rule_text(document, stated.place),
                    .why = fmt::format("{} puts the workspace at {}; name one place in both",
                                       rule_text(*by, first.place), first.value),
                    .fix = Request::show(document, stated.place)});
    }
  }
  if (by != nullptr) return first.value;
  return situation.workspace_target.value_or("/workspace");
}

}  // namespace cordon::plan
