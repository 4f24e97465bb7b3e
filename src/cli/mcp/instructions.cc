// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/instructions.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "review/printable.h"

namespace cordon::cli {
namespace {

// More are not named: each costs its place in every conversation.
constexpr std::size_t kMostHosts = 12;

std::string hosts_of(const PreparedRun& run, const RunOptions& options) {
  if (!run.lowered.network) return "none: there is no network";
  std::vector<std::string> hosts;
  if (options.public_network) hosts.emplace_back("every public host");
  for (const frame::NetDocument& document : run.lowered.network->documents) {
    for (const frame::NetRule& rule : document.allow) {
      const std::string host =
          rule.port == 443 ? rule.host : fmt::format("{}:{}", rule.host, rule.port);
      if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
    }
  }
  if (hosts.empty()) return "see explain";
  const std::size_t more = hosts.size() - std::min(hosts.size(), kMostHosts);
  hosts.resize(hosts.size() - more);
  std::string text = fmt::format("{}", fmt::join(hosts, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  return text;
}

}  // namespace

std::string instructions_for(const PreparedRun& run, const RunOptions& options) {
  const bool waits = run.lowered.plan.workspace.kind == frame::WorkspaceKind::review;
  return fmt::format(
      "Commands run in a sandbox over the workspace {}; {}\n"
      "Hidden: other files of the host, the person's keys and tokens, and what the policy hides.\n"
      "Hosts that may be reached: {}.\n"
      "What the sandbox refuses is listed in denials, with the rule and what may be done.\n"
      "Do not retry what was denied: the same act is denied again. A non-zero exit is no denial.\n"
      "Where access is needed, use request_access; a person decides. explain tells what is "
      "allowed.\n",
      review::printable(run.workspace),
      waits ? "what they write there waits until apply. Files that change in the workspace "
              "meanwhile are seen by the next command."
            : "what they write there lands at once.",
      hosts_of(run, options));
}

}  // namespace cordon::cli
