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
#include "policy/url_path.h"

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
  struct Block {
    std::uint32_t first;
    std::uint8_t bits;
    std::vector<std::uint32_t> rules;
  };
  std::vector<Block> blocks;  // the narrowest first

  void add(const HostPattern& host, std::uint32_t rule);

  // The rules of the most specific pattern that matches `host` and that `accept` takes: the name or
  // the address itself, then the longest "*." or the narrowest block. Null: there is none.
  template <class Accept>
  const std::vector<std::uint32_t>* find(std::string_view host, Accept accept) const {
    if (const auto found = exact.find(host); found != exact.end() && accept(found->second)) {
      return &found->second;
    }
    const auto address = blocks.empty() ? std::nullopt : ipv4_from(host);
    for (const Block& block : blocks) {
      if (!address) break;
      if (is_in_block(*address, block.first, block.bits) && accept(block.rules)) {
        return &block.rules;
      }
    }
    for (auto dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
      const auto found = below.find(host.substr(dot + 1));
      if (found != below.end() && accept(found->second)) return &found->second;
    }
    return nullptr;
  }
  const std::vector<std::uint32_t>* find(std::string_view host) const {
    return find(host, [](const auto&) { return true; });
  }
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
  Decision decide_name(std::string_view host) const;
  Decision decide_address(std::string_view quad) const;
  // Nothing: it has no opinion.
  std::optional<Passage> passage(std::string_view host, std::uint16_t port) const;
  Decision decide_variable(std::string_view name) const;
  Decision decide_ingress(std::uint16_t port) const;
  std::optional<std::uint64_t> calls_per_minute(const ToolQuery& query) const;

 private:
  Decision decide_grant_of_path(const PathQuery& query) const;
  Decision decide_listed(const NetQuery& query, const std::vector<std::uint32_t>& rules) const;
  Decision decide_host_port(std::uint16_t port) const;
  // True when a workspace file says nothing about what can be reached.
  bool is_silent_on_network() const;
  // What needs no rule: the network is off, the host refused, or a workspace file has no opinion.
  std::optional<Decision> decide_without_rules(std::string_view host) const;
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
  std::vector<UrlPaths> url_paths_;    // by egress rule
  std::vector<UrlPaths> grant_paths_;  // by grant
  ByText<std::uint32_t> servers_;
  std::vector<std::vector<std::optional<ArgumentSchema>>> conditions_;  // by server, by rule
};

}  // namespace cordon::policy
