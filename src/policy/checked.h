// SPDX-License-Identifier: Apache-2.0
// One checked document with the indexes that make its decisions fast.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/argument_schema.h"
#include "policy/decision.h"
#include "policy/glob.h"

namespace cordon::policy {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};
template <class T>
using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

// Rules by host: exact names, and names that stand behind "*.".
struct HostIndex {
  ByText<std::vector<std::uint32_t>> exact;
  ByText<std::vector<std::uint32_t>> below;

  void add(const HostPattern& host, std::uint32_t rule);
};

// Patterns of `hide` or `protect`: those that begin with `/` or `**` are matched against the whole
// path, the others against the path below the workspace.
struct PathPatterns {
  PatternSet anywhere;
  PatternSet in_workspace;
};

class CheckedDocument {
 public:
  // Before: the document passed every rule of check().
  CheckedDocument(PolicyDocument document, Origin origin);

  const PolicyDocument& document() const noexcept { return document_; }
  Origin origin() const noexcept { return origin_; }
  // A workspace file narrows: where it does not speak it allows what the others allow.
  bool narrows_only() const noexcept { return origin_ == Origin::workspace; }

  // As stated; else restricted where the document names something to reach or asks, none otherwise.
  NetworkMode network_mode() const;

  Decision decide(const PathQuery& query) const;
  Decision decide(const NetQuery& query) const;
  Decision decide(const ToolQuery& query) const;
  Decision decide(const CredentialQuery& query) const;
  Decision decide_variable(std::string_view name) const;
  Decision decide_ingress(std::uint16_t port) const;
  std::optional<std::uint64_t> calls_per_minute(const ToolQuery& query) const;

 private:
  Decision decide_grant_of_path(const PathQuery& query) const;
  Decision decide_listed(const NetQuery& query, const std::vector<std::uint32_t>& rules) const;
  Decision decide_host_port(std::uint16_t port) const;
  // Of the rule of egress_denylist that refuses the host.
  std::optional<Place> denied_place(std::string_view host) const;
  const std::vector<std::uint32_t>* rules_for(std::string_view host, std::uint16_t port) const;
  bool has_rule_on(const std::vector<std::uint32_t>& rules, std::uint16_t port) const;

  struct ToolMatch {
    Decision decision;
    std::optional<std::uint64_t> calls_per_minute;
  };
  ToolMatch match_tool(const ToolQuery& query) const;
  // What rules of equally specific names say together; nothing where all of them vanish.
  std::optional<ToolMatch> judge_rules(std::uint32_t server, std::span<const std::uint32_t> rules,
                                       std::string_view arguments) const;

  PolicyDocument document_;
  Origin origin_;
  PathPatterns hide_;
  PathPatterns protect_;
  ByText<std::uint32_t> mounts_;  // by target
  HostIndex allowed_;
  HostIndex denied_;
  std::vector<PatternSet> url_paths_;    // by egress rule
  std::vector<PatternSet> grant_paths_;  // by grant
  ByText<std::uint32_t> servers_;
  std::vector<std::vector<std::optional<ArgumentSchema>>> conditions_;  // by server, by rule
};

}  // namespace cordon::policy
