// SPDX-License-Identifier: Apache-2.0
#include "record/host_facts_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cordon {
namespace {

constexpr std::string_view kMark = "cordon host facts 4";

template <class Number>
std::optional<Number> number_from(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return static_cast<Number>(value);
}

std::vector<std::string> parts_of(std::string_view text, char border) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(border), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace

std::string to_text(const HostFacts& facts) {
  std::string text;
  const auto line = [&](std::string_view content) { text.append(content).append("\n"); };
  line(kMark);
  line(one_line(facts.kernel));
  line(one_line(facts.machine));
  line(one_line(facts.system));
  line(facts.root ? "1" : "0");
  line(std::to_string(facts.landlock_abi));
  line(std::to_string(static_cast<unsigned>(facts.cgroup_layout)));
  std::string controllers;
  for (const std::string& controller : facts.controllers) {
    controllers += (controllers.empty() ? "" : " ") + controller;
  }
  line(controllers);
  line("platform " + one_line(facts.gvisor_platform));
  line("accelerator " + one_line(facts.accelerator));
  line(facts.gvisor_traces ? "1" : "0");
  line(facts.machine_traces ? "1" : "0");
  for (const Fact& fact : facts.facts) {
    line(std::to_string(static_cast<unsigned>(fact.support)) + "\t" + one_line(fact.detail) + "\t" +
         one_line(fact.remedy));
  }
  return text;
}

Result<HostFacts> host_facts_from(std::string_view text) {
  const std::vector<std::string> lines = parts_of(text, '\n');
  const Error broken{Errc::invalid, "no facts of a host"};
  if (lines.size() != 12 + kFeatureCount || lines[0] != kMark) return broken;
  HostFacts facts;
  facts.kernel = lines[1];
  facts.machine = lines[2];
  facts.system = lines[3];
  facts.root = lines[4] == "1";
  const auto abi = number_from<int>(lines[5], 1000);
  const auto layout = number_from<CgroupLayout>(lines[6], static_cast<unsigned>(CgroupLayout::v2));
  if (!abi || !layout) return broken;
  facts.landlock_abi = *abi;
  facts.cgroup_layout = *layout;
  facts.controllers = parts_of(lines[7], ' ');
  constexpr std::string_view kPlatform = "platform ";
  if (!lines[8].starts_with(kPlatform)) return broken;
  facts.gvisor_platform = lines[8].substr(kPlatform.size());
  constexpr std::string_view kAccelerator = "accelerator ";
  if (!lines[9].starts_with(kAccelerator)) return broken;
  facts.accelerator = lines[9].substr(kAccelerator.size());
  facts.gvisor_traces = lines[10] == "1";
  facts.machine_traces = lines[11] == "1";
  for (std::size_t index = 0; index < kFeatureCount; ++index) {
    const std::string& line = lines[12 + index];
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) return broken;
    const auto support = number_from<Support>(std::string_view{line}.substr(0, first),
                                              static_cast<unsigned>(Support::absent));
    if (!support) return broken;
    facts.facts[index] = {*support, line.substr(first + 1, second - first - 1),
                          line.substr(second + 1)};
  }
  return facts;
}

}  // namespace cordon
