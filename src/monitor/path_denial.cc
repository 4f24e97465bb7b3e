// SPDX-License-Identifier: Apache-2.0
#include "monitor/path_denial.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "os/filter/judged_call.h"
#include "policy/explain.h"
#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

using policy::Access;

// What fences answer with where files are: mounts, Landlock, what was pinned.
bool is_of_a_fence(std::int64_t result) {
  return result == -EROFS || result == -EACCES || result == -EPERM || result == -EBUSY;
}

Access access_of(const Seen& seen, const SeenFile& file) {
  const std::string_view call = os::call_name(seen.call);
  if (call.starts_with("exec")) return Access::exec;
  if (call.starts_with("open"))
    return (file.flags & CORDON_OPEN_WRITES) != 0 ? Access::write : Access::read;
  return Access::write;
}

std::string code_of(Access access) {
  switch (access) {
    case Access::read:
      return "CORDON-FS-READ";
    case Access::write:
      return "CORDON-FS-WRITE";
    case Access::exec:
      return "CORDON-FS-EXEC";
  }
  return "CORDON-FS-WRITE";
}

std::string fix_of(const policy::Explanation& explanation) {
  std::string fix;
  for (const policy::Change& change : explanation.changes) {
    if (change.edit == policy::Edit::none) return {};
    fix.append(fix.empty() ? "" : "; ").append(to_string(change));
  }
  return fix;
}

std::string action_of(Access access, policy::Reason reason, std::string_view workspace) {
  if (access != Access::write) return "do without it";
  if (reason == policy::Reason::workspace_is_read_only) return "write to /tmp";
  return "write below " + std::string{workspace} + ", or to /tmp";
}

std::optional<Denial> judge(Access access, const std::string& used, const std::string& path,
                            const policy::Policy& policy, std::string_view workspace) {
  if (path.empty()) return std::nullopt;
  const policy::PathQuery query{.access = access, .path = path, .workspace = workspace};
  const policy::Decision decision = policy.decide(query);
  if (decision.allowed()) return std::nullopt;
  const policy::Explanation explanation = policy::explain(policy, query);
  return Denial{.code = code_of(access),
                .tried = std::string{to_string(access)} + " " + used,
                .resolved = used == path ? "" : path,
                .rule = explanation.rule,
                .why = explanation.sentence,
                .fix = fix_of(explanation),
                .action = action_of(access, decision.reason, workspace)};
}

bool is_node_changed(std::string_view call, std::string_view path) {
  if (!path.starts_with("/dev/") || path.starts_with("/dev/shm/")) return false;
  return !call.starts_with("open") && !call.starts_with("exec") && call != "creat";
}

// The path that a second one begins at is not told: where both begin at the same it is known.
std::string second_path(const Seen& seen, const SeenFile& file) {
  if (!file.second_resolved.empty()) return file.second_resolved;
  if (file.second.starts_with('/')) return normal_path(file.second);
  const std::string_view call = os::call_name(seen.call);
  const bool has_own_base = call.ends_with("at") || call.ends_with("at2");
  const auto base = [&](std::size_t at) { return static_cast<std::uint32_t>(seen.arguments[at]); };
  if (has_own_base && base(0) != base(2)) return {};
  const std::size_t end = file.resolved.size() - std::min(file.used.size(), file.resolved.size());
  return normal_path(file.resolved.substr(0, end) + file.second);
}

}  // namespace

std::string normal_path(std::string_view path) {
  if (!path.starts_with('/')) return {};
  std::vector<std::string_view> names;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(name);
    } else if (!names.empty()) {
      names.pop_back();
    }
  }
  std::string normal;
  for (const std::string_view name : names) normal.append("/").append(name);
  return normal.empty() ? "/" : normal;
}

std::optional<Denial> path_denial(const Seen& seen, const SeenFile& file,
                                  const policy::Policy& policy, std::string_view workspace) {
  if (!is_of_a_fence(seen.result)) return std::nullopt;
  const std::string_view call = os::call_name(seen.call);
  if (!call.starts_with("link")) {  // what gets a second name is not written
    const std::string path = normal_path(file.resolved.empty() ? file.used : file.resolved);
    const Access access = access_of(seen, file);
    auto denial = judge(access, file.used, path, policy, workspace);
    // Who may write to a device may not change its node, which is its directory's.
    if (!denial && is_node_changed(call, path)) {
      denial = judge(access, file.used, path.substr(0, path.rfind('/')), policy, workspace);
    }
    if (denial) return denial;
  }
  if (file.second.empty() || call.starts_with("symlink")) return std::nullopt;
  return judge(Access::write, file.second, second_path(seen, file), policy, workspace);
}

}  // namespace cordon::monitor
