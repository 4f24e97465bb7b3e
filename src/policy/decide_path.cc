// SPDX-License-Identifier: Apache-2.0
// Decisions over paths: hide, then protect, then the most specific of mounts, workspace, own trees
// and root.
#include <algorithm>

#include "policy/checked.h"
#include "policy/host_view.h"

namespace cordon::policy {
namespace {

// Trees that every sandbox has for itself, and whether they may be written.
struct OwnTree {
  std::string_view path;
  bool readable;
  bool writable;
};
constexpr OwnTree kOwnTrees[] = {
    {"/tmp", true, true},      {"/var/tmp", true, true},  {"/dev/shm", true, true},
    {"/dev/null", true, true}, {"/dev/zero", true, true}, {"/dev/full", true, true},
    {"/dev/tty", true, true},  {"/dev/pts", true, true},  {"/dev/ptmx", true, true},
    {"/dev", true, false},     {"/proc", true, false},    {"/sys", false, false},
};

// The rule of `patterns` that covers `path`. Overflow covers too: hide and protect only ever
// refuse.
struct Covered {
  bool yes = false;
  std::optional<std::uint32_t> rule;
};
Covered covered_by(const PathPatterns& patterns, std::string_view path,
                   std::string_view workspace) {
  const auto of = [](PatternSet::Match match) -> Covered {
    if (match.outcome == PatternSet::Outcome::overflow) return {true, std::nullopt};
    if (match.outcome == PatternSet::Outcome::yes) return {true, match.rule};
    return {};
  };
  if (const Covered found = of(patterns.anywhere.match(path.substr(1))); found.yes) return found;
  const auto inside = below(path, workspace);
  return inside ? of(patterns.in_workspace.match(*inside)) : Covered{};
}

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

Decision refuse(const Covered& covered, Reason reason,
                const std::vector<Stated<std::string>>& patterns) {
  if (!covered.rule) return {.reason = Reason::too_many_patterns};
  return {.reason = reason, .place = patterns[*covered.rule].place};
}

Decision by_mode(bool writable, Access access, Reason granted, Reason refused, Place place) {
  if (access == Access::write && !writable) return {.reason = refused, .place = place};
  return {.effect = Effect::allow, .reason = granted, .place = place};
}

}  // namespace

Decision CheckedDocument::decide(const PathQuery& query) const {
  if (!is_normal_path(query.path) || !is_normal_path(query.workspace))
    return {.reason = Reason::bad_path};
  const Filesystem& filesystem = document_.filesystem;
  const std::string_view workspace =
      filesystem.workspace ? std::string_view{filesystem.workspace->value} : query.workspace;
  if (const Covered hidden = covered_by(hide_, query.path, workspace); hidden.yes) {
    return refuse(hidden, Reason::hidden, filesystem.hide.items);
  }
  if (query.access == Access::write) {
    const Covered kept = covered_by(protect_, query.path, workspace);
    if (kept.yes) return refuse(kept, Reason::protected_, filesystem.protect.items);
  }
  if (!narrows_only()) return decide_grant_of_path({query.access, query.path, workspace});
  const bool read_only = filesystem.mode && filesystem.mode->value == Mode::read_only;
  if (query.access == Access::write && read_only && below(query.path, workspace)) {
    return {.reason = Reason::workspace_is_read_only, .place = filesystem.mode->place};
  }
  return {.effect = Effect::allow, .reason = Reason::no_opinion};
}

// The longest of the trees that hold the path decides.
Decision CheckedDocument::decide_grant_of_path(const PathQuery& query) const {
  const Filesystem& filesystem = document_.filesystem;
  for (std::string_view at = query.path; at != "/"; at = parent_of(at)) {
    if (const auto mount = mounts_.find(at); mount != mounts_.end()) {
      const HostMount& found = filesystem.host_mounts.items[mount->second];
      return by_mode(found.mode == Mode::read_write, query.access, Reason::mounted,
                     Reason::mount_is_read_only, found.place);
    }
    if (at == query.workspace) {
      const bool writable = !filesystem.mode || filesystem.mode->value == Mode::read_write;
      return by_mode(writable, query.access, Reason::workspace_path, Reason::workspace_is_read_only,
                     filesystem.mode ? filesystem.mode->place : Place{});
    }
    const auto* const own = std::ranges::find(kOwnTrees, at, &OwnTree::path);
    if (own != std::end(kOwnTrees)) {
      if (!own->readable) return {.reason = Reason::own_absent};
      return by_mode(own->writable, query.access, Reason::own_path, Reason::own_read_only, {});
    }
  }
  const Place root = filesystem.root ? filesystem.root->place : Place{};
  // A root that is not stated is judged as the host's, which shows the least.
  const bool whole = filesystem.root && filesystem.root->value.kind != RootKind::host;
  if (!whole && !is_shown_of_host(query.path))
    return {.reason = Reason::absent_path, .place = root};
  if (query.access == Access::write) return {.reason = Reason::root_is_read_only, .place = root};
  return {.effect = Effect::allow, .reason = Reason::system_path, .place = root};
}

}  // namespace cordon::policy
