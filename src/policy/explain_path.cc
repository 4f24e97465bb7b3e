// SPDX-License-Identifier: Apache-2.0
// Decisions over paths, in words.
#include <fmt/format.h>

#include "policy/explain_parts.h"
#include "policy/glob.h"
#include "policy/host_view.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

std::string pattern_at(const std::vector<Stated<std::string>>& patterns, Place place) {
  for (const auto& pattern : patterns) {
    if (pattern.place == place) return pattern.value;
  }
  return {};
}

std::string root_words(const PolicyDocument& document) {
  if (!document.filesystem.root) return "root = \"host\" by default";
  const Root& root = document.filesystem.root->value;
  if (root.kind == RootKind::host) return "root = \"host\"";
  return fmt::format("root = \"{}:{}\"", to_string(root.kind), root.name);
}

std::string sentence(const Spoken& spoken, const PathQuery& query) {
  const Filesystem& filesystem = spoken.document().filesystem;
  const std::string path = printable(query.path);
  switch (spoken.decision.reason) {
    case Reason::bad_path:
      return fmt::format(
          "{} is no path in its one spelling: absolute, without `.`, `..`, `//` or a slash at the "
          "end",
          path);
    case Reason::hidden:
      return fmt::format("{} is hidden by the pattern {}", path,
                         in_quotes(pattern_at(filesystem.hide.items, spoken.decision.place)));
    case Reason::protected_:
      return fmt::format("{} is protected by the pattern {}: it may be read, never written", path,
                         in_quotes(pattern_at(filesystem.protect.items, spoken.decision.place)));
    case Reason::too_many_patterns:
      return "more patterns match partly at once than can be followed, so the path is refused";
    case Reason::absent_path:
      return fmt::format("{} does not exist inside: {} does not show it and nothing mounts it",
                         path, root_words(spoken.document()));
    case Reason::root_is_read_only:
      return fmt::format("{} is in the system tree, which is never writable", path);
    case Reason::system_path:
      return fmt::format("{} is in the system tree ({})", path, root_words(spoken.document()));
    case Reason::own_absent:
      return fmt::format("{} does not exist in any sandbox", path);
    case Reason::own_path:
      return fmt::format("{} is the sandbox's own", path);
    case Reason::own_read_only:
      return fmt::format("{} is the sandbox's own and may only be read", path);
    case Reason::workspace_path:
      return fmt::format("{} is in the workspace", path);
    case Reason::workspace_is_read_only:
      return fmt::format("{} is in the workspace, whose mode is read_only", path);
    case Reason::mounted:
      return fmt::format("{} is in a mount of the host", path);
    case Reason::mount_is_read_only:
      return fmt::format("{} is in a mount of the host whose mode is read_only", path);
    default:
      return fmt::format("nothing speaks against {}", path);
  }
}

Change to_allow(const Spoken& spoken, const PathQuery& query) {
  const auto mount = [&] {
    const Mode mode = query.access == Access::write ? Mode::read_write : Mode::read_only;
    return spoken.add("filesystem.host_mounts",
                      fmt::format("{{ source = {0}, target = {0}, mode = \"{1}\", why = \"…\" }}",
                                  toml_text(query.path), to_string(mode)));
  };
  switch (spoken.decision.reason) {
    case Reason::hidden:
      return spoken.remove("filesystem.hide");
    case Reason::protected_:
      return spoken.remove("filesystem.protect");
    case Reason::absent_path:
      return mount();
    case Reason::root_is_read_only:
      // Nobody is told to make the host's own programs and accounts writable.
      if (is_shown_of_host(query.path))
        return spoken.none("write below the workspace or /tmp instead");
      return mount();
    case Reason::workspace_is_read_only:
      return spoken.set("filesystem.mode", "\"read_write\"");
    case Reason::mount_is_read_only: {
      Change change = spoken.set("mode", "\"read_write\"");
      change.key = "filesystem.host_mounts[].mode";
      change.at = spoken.rule();
      return spoken.from_preset() ? mount() : change;
    }
    case Reason::bad_path:
      return spoken.none("no policy can allow it; ask for the path in its one spelling");
    case Reason::too_many_patterns:
      return spoken.none("write fewer patterns with `*` in them");
    default:
      return spoken.none("no policy can allow it: every sandbox has these trees for itself");
  }
}

std::vector<Change> to_refuse(const Spoken& spoken, const PathQuery& query) {
  if (query.path == "/") return {spoken.none("no policy can hide it: it is the root")};
  const bool write = query.access == Access::write;
  return {spoken.add(write ? "filesystem.protect" : "filesystem.hide",
                     toml_text(literal_pattern(query.path)))};
}

struct PathWords {
  const PathQuery& query;
  std::string sentence(const Spoken& spoken) const { return policy::sentence(spoken, query); }
  Change to_allow(const Spoken& spoken) const { return policy::to_allow(spoken, query); }
  std::vector<Change> to_refuse(const Spoken& spoken) const {
    return policy::to_refuse(spoken, query);
  }
};

}  // namespace

Explanation explain(const Policy& policy, const PathQuery& query) {
  return explain_with(policy, query, PathWords{query});
}

}  // namespace cordon::policy
