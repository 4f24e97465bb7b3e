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
  return "cordon policy explain " + name;
}

std::string workspace_of(const policy::Policy& policy, const Situation& situation,
                         Refusals& refusals) {
  const policy::CheckedDocument* first = nullptr;
  for (const auto& checked : policy.documents()) {
    const auto& stated = checked->document().filesystem.workspace;
    if (!stated) continue;
    if (first == nullptr) {
      first = checked.get();
    } else if (first->document().filesystem.workspace->value != stated->value) {
      refusals.add(Errc::invalid, "WORKSPACE",
                   {.tried = fmt::format("filesystem.workspace = \"{}\"", stated->value),
                    .rule = rule_text(checked->document(), stated->place),
                    .why = fmt::format(
                        "{} puts the workspace at {}; name one place in both",
                        rule_text(first->document(), first->document().filesystem.workspace->place),
                        first->document().filesystem.workspace->value),
                    .fix = Request::show(checked->document(), stated->place)});
    }
  }
  if (first != nullptr) return first->document().filesystem.workspace->value;
  return situation.workspace_target.value_or("/workspace");
}

}  // namespace cordon::plan
