// SPDX-License-Identifier: Apache-2.0
// cordon doctor for people.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/doctor_report.h"
#include "terminal/text_filter.h"

namespace cordon::cli {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kNameWidth = 18;
constexpr std::size_t kStateWidth = 12;
constexpr std::size_t kIndent = 2 + kNameWidth + kStateWidth;

// Only what does not work is loud.
std::string_view state_of(Support support) {
  switch (support) {
    case Support::not_probed:
      return "not probed";
    case Support::ok:
      return "ok";
    case Support::limited:
      return "limited";
    case Support::blocked:
      return "BLOCKED";
    case Support::absent:
      return "ABSENT";
  }
  return "not probed";
}

std::string name_of(Feature feature) {
  std::string name{to_string(feature)};
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t cut = text.rfind(' ', width);
    if (cut == std::string_view::npos || cut == 0) cut = text.find(' ');
    if (cut == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut + 1);
  }
  lines.emplace_back(text);
  return lines;
}

// "  NAME   STATE   DETAIL", the detail continued below itself.
void append_row(std::string& out, std::string_view name, std::string_view state,
                std::string_view detail) {
  const auto lines = wrapped(detail, kColumns - kIndent);
  std::string row = fmt::format("  {:<{}}{:<{}}{}", name, kNameWidth, state, kStateWidth, lines[0]);
  row.erase(row.find_last_not_of(' ') + 1);
  out += row + '\n';
  for (std::size_t i = 1; i < lines.size(); ++i) {
    out += fmt::format("{:{}}{}\n", "", kIndent, lines[i]);
  }
}

// A command is never wrapped: it is there to be pasted.
void append_command(std::string& out, const std::string& command) {
  out += fmt::format("{:{}}-> {}\n", "", kIndent, terminal::printable(command));
}

bool is_missing(const DoctorReport& report, Feature feature) {
  return std::ranges::find(report.reached.missing, feature) != report.reached.missing.end();
}

void append_fact(std::string& out, const DoctorReport& report, Feature feature) {
  const Fact& fact = report.host[feature];
  append_row(out, name_of(feature), state_of(fact.support), terminal::printable(fact.detail));
  // What the level lacks is told there.
  if (!fact.remedy.empty() && !is_missing(report, feature)) append_command(out, fact.remedy);
}

// What keeps the level from `full`, and the commands that would change it, each once.
void append_level(std::string& out, const DoctorReport& report) {
  std::string missing;
  std::vector<std::string> remedies;
  for (const Feature feature : report.reached.missing) {
    missing += (missing.empty() ? "missing for full: " : ", ") + name_of(feature);
    const std::string& remedy = report.host[feature].remedy;
    if (!remedy.empty() && std::ranges::find(remedies, remedy) == remedies.end()) {
      remedies.push_back(remedy);
    }
  }
  append_row(out, "level", to_string(report.reached.level), missing);
  for (const std::string& remedy : remedies) append_command(out, remedy);
}

void append_capacity(std::string& out, const Capacity& capacity) {
  std::string parts;
  const auto add = [&](std::string_view what, const std::optional<std::uint64_t>& count) {
    if (count) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", what, *count);
  };
  add("descriptors", capacity.by_fds);
  add("processes", capacity.by_pids);
  add("ids", capacity.by_ids);
  const auto most = sandboxes_of(capacity);
  append_row(out, "capacity", most ? std::to_string(*most) : "unlimited",
             parts.empty() ? "no limit found" : "sandboxes, by " + parts);
}

}  // namespace

std::optional<std::uint64_t> sandboxes_of(const Capacity& capacity) {
  std::optional<std::uint64_t> least;
  for (const auto& count : {capacity.by_fds, capacity.by_pids, capacity.by_ids}) {
    if (count && (!least || *count < *least)) least = count;
  }
  return least;
}

std::string doctor_text(const DoctorReport& report) {
  const HostFacts& host = report.host;
  std::string out =
      fmt::format("cordon {}  linux {} {}  {}  {}\n\n", CORDON_VERSION,
                  terminal::printable(host.kernel), terminal::printable(host.machine),
                  terminal::printable(host.system), host.root ? "as root" : "as an ordinary user");
  for (const Feature feature : all_features()) append_fact(out, report, feature);
  out += '\n';
  append_level(out, report);
  append_capacity(out, host.capacity);
  return out;
}

}  // namespace cordon::cli
