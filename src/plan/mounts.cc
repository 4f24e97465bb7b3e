// SPDX-License-Identifier: Apache-2.0
#include "plan/mounts.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/patterns.h"
#include "plan/request.h"
#include "policy/glob.h"

namespace cordon::plan {
namespace {

using policy::CheckedDocument;
using policy::HostMount;

// The mount of `checked` that decides about `target`: the one with the longest target.
const HostMount* mount_over(const CheckedDocument& checked, std::string_view target) {
  const HostMount* longest = nullptr;
  for (const HostMount& mount : checked.document().filesystem.host_mounts.items) {
    if (!policy::below(target, mount.target)) continue;
    if (longest == nullptr || mount.target.size() > longest->target.size()) longest = &mount;
  }
  return longest;
}

enum class Opinion : std::uint8_t { grants, refuses, differs };

Opinion opinion_of(const CheckedDocument& checked, const HostMount& mount,
                   const Situation& situation) {
  if (checked.narrows_only()) return Opinion::grants;
  const HostMount* const own = mount_over(checked, mount.target);
  if (own == nullptr) return Opinion::refuses;
  const std::string shown =
      joined(on_host(own->source, situation), relative_to(mount.target, own->target));
  return shown == on_host(mount.source, situation) ? Opinion::grants : Opinion::differs;
}

bool is_granted(const policy::Policy& policy, const CheckedDocument& by, const HostMount& mount,
                const Situation& situation, Refusals& refusals) {
  for (const auto& checked : policy.documents()) {
    const Opinion opinion = opinion_of(*checked, mount, situation);
    if (opinion == Opinion::refuses) return false;
    if (opinion == Opinion::grants) continue;
    refusals.add(Errc::invalid, "MOUNT",
                 {.tried = fmt::format("mount {} at {}", mount.source, mount.target),
                  .rule = rule_text(by.document(), mount.place),
                  .why = fmt::format("{} shows another thing of the host there",
                                     checked->document().sources.front().name),
                  .fix = Request::show(by.document(), mount.place)});
    return false;
  }
  return true;
}

bool allows(const policy::Policy& policy, policy::Access access, std::string_view path,
            std::string_view workspace) {
  return policy.decide(policy::PathQuery{access, path, workspace}).allowed();
}

}  // namespace

std::string on_host(std::string_view source, const Situation& situation) {
  if (source == "~") return situation.home;
  if (source.starts_with("~/")) return joined(situation.home, source.substr(2));
  return std::string{source};
}

std::vector<frame::Bind> granted_mounts(const policy::Policy& policy, const Situation& situation,
                                        std::string_view workspace, Refusals& refusals) {
  std::vector<frame::Bind> mounts;
  for (const auto& checked : policy.documents()) {
    for (const HostMount& mount : checked->document().filesystem.host_mounts.items) {
      if (std::ranges::find(mounts, mount.target, &frame::Bind::target) != mounts.end()) continue;
      if (!is_granted(policy, *checked, mount, situation, refusals)) continue;
      // Hidden as a whole: it is simply not there.
      if (!allows(policy, policy::Access::read, mount.target, workspace)) continue;
      mounts.push_back({.source = on_host(mount.source, situation),
                        .target = mount.target,
                        .writable = allows(policy, policy::Access::write, mount.target, workspace),
                        .optional = false});
    }
  }
  std::ranges::sort(mounts, {}, &frame::Bind::target);
  return mounts;
}

}  // namespace cordon::plan
