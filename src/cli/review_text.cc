// SPDX-License-Identifier: Apache-2.0
// Lines for a terminal: every byte that a sandbox chose is escaped.
#include <algorithm>

#include <fmt/format.h>

#include "cli/review_report.h"
#include "review/printable.h"

namespace cordon::cli {
namespace {

using os::FileType;
using review::Change;
using review::ChangeKind;
using review::printable;

std::string duration_of(const DiffReport& report) {
  if (report.running) return "running";
  if (!report.run.ended) return "no end recorded";
  const auto took = *report.run.ended - report.run.started;
  if (took < std::chrono::minutes{2}) {
    return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(took).count());
  }
  return fmt::format("{} min", std::chrono::duration_cast<std::chrono::minutes>(took).count());
}

// Not a line of its own: what it holds is listed, and says more.
bool is_told_by_its_entries(const Change& change, const Change* next) {
  return change.type == FileType::directory && change.kind == ChangeKind::added &&
         change.flags.empty() && next != nullptr && next->path.starts_with(change.path + "/");
}

std::vector<const Change*> shown(const std::vector<Change>& changes) {
  std::vector<const Change*> lines;
  for (const Change& change : changes) {
    if (change.kind == ChangeKind::deleted) lines.push_back(&change);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change* const next = i + 1 < changes.size() ? &changes[i + 1] : nullptr;
    if (changes[i].kind == ChangeKind::deleted) continue;
    if (!is_told_by_its_entries(changes[i], next)) lines.push_back(&changes[i]);
  }
  return lines;
}

std::string header(const DiffReport& report, const std::vector<const Change*>& lines) {
  const auto count = [&](auto matches) {
    return std::ranges::count_if(lines,
                                 [&](const Change* change) { return matches(change->kind); });
  };
  const auto deleted = count([](ChangeKind kind) { return kind == ChangeKind::deleted; });
  const auto added = count([](ChangeKind kind) { return kind == ChangeKind::added; });
  std::string text = fmt::format("run {}   {}", report.run.id.text(), duration_of(report));
  if (lines.empty()) return text + "   no changes\n";
  text += fmt::format("   {} changed  {} new", static_cast<long>(lines.size()) - deleted - added,
                      added);
  if (deleted > 0) text += fmt::format("  {} DELETED", deleted);
  return text + "\n";
}

std::string sizes(const Change& change) {
  if (change.kind == ChangeKind::mode_changed && change.lower) {
    return fmt::format("{:04o} -> {:04o}", change.lower->mode, change.mode);
  }
  if (change.type == FileType::symlink) return "-> " + printable(change.target);
  if (change.lines) {
    return change.kind == ChangeKind::added
               ? fmt::format("+{}", change.lines->added)
               : fmt::format("+{} -{}", change.lines->added, change.lines->removed);
  }
  if (change.type == FileType::regular) return fmt::format("binary, {} bytes", change.size);
  return std::string{to_string(change.type)};
}

std::string details(const Change& change) {
  const bool takes_directory = change.lower && change.lower->type == FileType::directory &&
                               change.kind != ChangeKind::mode_changed;
  std::string text;
  if (change.kind == ChangeKind::deleted) {
    if (takes_directory) text = fmt::format("directory with {} entries", change.entries);
  } else {
    text = sizes(change);
    if (change.kind == ChangeKind::type_changed && change.lower) {
      text += fmt::format(" (was a {}", to_string(change.lower->type));
      text += takes_directory ? fmt::format(" with {} entries)", change.entries) : ")";
    }
  }
  if (change.lower_is_newer) text += "  changed in the workspace since";
  return text;
}

std::string line(const Change& change, std::size_t width) {
  std::string text = fmt::format("  {}  {:<{}}  {}", letter_of(change.kind), printable(change.path),
                                 width, details(change));
  for (const review::Flag& flag : change.flags) text += "   ! " + flag.reason;
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string diff_text(const DiffReport& report) {
  constexpr std::size_t kWidest = 48;  // longer paths push their own line only
  const auto lines = shown(report.changes);
  std::size_t width = 0;
  for (const Change* const change : lines) {
    const std::size_t size = printable(change->path).size();
    if (size <= kWidest) width = std::max(width, size);
  }
  std::string text = header(report, lines);
  for (const Change* const change : lines) text += line(*change, width);
  return text;
}

std::string apply_text(const review::RunRecord& run, const review::ApplyReport& report) {
  std::string text = fmt::format("applied {} {}", report.applied.size(),
                                 report.applied.size() == 1 ? "change" : "changes");
  if (report.removed) return text + fmt::format("; run {} is done\n", run.id.text());
  return text + fmt::format("; {} left in run {}\n", report.remaining, run.id.text());
}

}  // namespace cordon::cli
