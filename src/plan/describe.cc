// SPDX-License-Identifier: Apache-2.0
#include "plan/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/quantity.h"

namespace cordon::plan {
namespace {

class Lines {
 public:
  template <class... Args>
  void add(std::string_view topic, fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format("{:<12}{}\n", topic, fmt::format(format, std::forward<Args>(args)...));
  }
  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string_view mode(bool writable) { return writable ? "write" : "read"; }

std::string_view word(frame::WorkspaceKind kind) {
  switch (kind) {
    case frame::WorkspaceKind::own_disk:
      return "own disk";
    case frame::WorkspaceKind::live:
      return "live";
    case frame::WorkspaceKind::review:
      return "review";
  }
  return {};
}

std::string_view word(frame::PathUse use) {
  switch (use) {
    case frame::PathUse::read:
      return "read";
    case frame::PathUse::read_exec:
      return "read_exec";
    case frame::PathUse::all:
      return "all";
    case frame::PathUse::device:
      return "device";
    case frame::PathUse::list:
      return "list";
  }
  return {};
}

std::string number(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

void add_workspace(const frame::Workspace& workspace, Lines& lines) {
  lines.add("workspace", "{} {}, {}{}", mode(workspace.writable), workspace.target,
            word(workspace.kind),
            workspace.source.empty() ? "" : fmt::format(" of {}", workspace.source));
  if (!workspace.state.empty()) lines.add("layer", "{}", workspace.state);
  for (const frame::Pin& pin : workspace.pins) {
    lines.add("pin", "{} {}{}{}", pin.kind == frame::PinKind::hide ? "hide" : "read-only", pin.path,
              pin.directory ? "/" : "", pin.placeholder ? ", not there yet" : "");
  }
}

// Binds of one kind stand in one line as long as they show a path at its own place.
void add_binds(const std::vector<frame::Bind>& binds, Lines& lines) {
  for (const frame::Bind& bind : binds) {
    const std::string_view optional = bind.optional ? " (where it exists)" : "";
    if (bind.source == bind.target) {
      lines.add("bind", "{} {}{}", mode(bind.writable), bind.target, optional);
    } else {
      lines.add("bind", "{} {}: {} of the host{}", mode(bind.writable), bind.target, bind.source,
                optional);
    }
  }
}

void add_fences(const frame::Fences& fences, Lines& lines) {
  lines.add("id", "{}:{}", fences.uid, fences.gid);
  lines.add("filter", "{}", fences.filter);
  lines.add("keeps", "{}",
            fences.capabilities.empty()
                ? std::string{"no capability"}
                : fmt::format("capabilities {}", fmt::join(fences.capabilities, " ")));
  lines.add("landlock", "ABI {}", fences.landlock_abi);
  for (const frame::PathRule& rule : fences.paths)
    lines.add("path", "{} {}", word(rule.use), rule.path);
  const frame::ProcessLimits& limits = fences.limits;
  lines.add("process", "open files {}, processes {}, file size {}, address space {}",
            limits.open_files, limits.processes, limits.file_size, limits.address_space);
}

// A file's text may have several lines.
std::string indented(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += std::string(14, ' ');
  }
  while (result.ends_with(' ') || result.ends_with('\n')) result.pop_back();
  return result;
}

}  // namespace

std::string describe(const frame::LaunchPlan& plan) {
  Lines lines;
  lines.add("sandbox", "{}, host name {}", plan.id, plan.host_name);
  lines.add("namespaces", "{:#x}, no_new_privs {}, network {}", plan.namespaces, plan.no_new_privs,
            plan.network);
  lines.add("ids", "{}", plan.ids == frame::Ids::range ? "a range of its own" : "the caller's");
  lines.add("root", "{}",
            plan.root == frame::RootSource::host ? std::string{"the host's programs"}
            : plan.root == frame::RootSource::directory
                ? fmt::format("directory {}", plan.root_path)
                : fmt::format("EROFS {}", plan.root_path));
  if (plan.root_layer) lines.add("root layer", "on the own disk");
  add_binds(plan.binds, lines);
  for (const frame::OwnFile& file : plan.files)
    lines.add("file", "{}\n{:14}{}", file.target, "", indented(file.text));
  for (const std::string& directory : plan.directories) lines.add("own", "{}", directory);
  add_workspace(plan.workspace, lines);
  lines.add("disk", "{}, {} files, {}", to_size_text(plan.disk.bytes), plan.disk.inodes,
            plan.disk.image ? "an image" : "in memory");
  if (plan.groups) {
    lines.add("group", "memory {}, pids {}, milli-cpus {}, io {}", number(plan.limits.memory),
              number(plan.limits.pids), number(plan.limits.milli_cpus),
              number(plan.limits.io_bytes));
  } else {
    lines.add("group", "none");
  }
  add_fences(plan.setup.fences, lines);
  return std::move(lines).take();
}

std::string describe(const Enforcement& enforcement) {
  std::string text;
  for (const Mechanism& mechanism : enforcement.mechanisms) {
    text += fmt::format("{:<18}{}{}{}\n", mechanism.name, to_string(mechanism.hold),
                        mechanism.detail.empty() ? "" : ": ", mechanism.detail);
  }
  return text;
}

std::string describe(const Lowered& lowered) {
  const Budgets& budgets = lowered.budgets;
  const auto seconds = [](const std::optional<std::chrono::seconds>& value) {
    return value ? fmt::format("{} s", value->count()) : std::string{"none"};
  };
  Lines lines;
  lines.add("budgets", "wall {}, cpu {}, output {}, memory {}", seconds(budgets.wall),
            seconds(budgets.cpu), number(budgets.output), number(budgets.memory));
  lines.add("starts in", "{}", lowered.directory);
  for (const std::string& variable : lowered.environment) lines.add("variable", "{}", variable);
  return fmt::format("{}\n{}\n{}", describe(lowered.plan), std::move(lines).take(),
                     describe(lowered.enforcement));
}

}  // namespace cordon::plan
