// SPDX-License-Identifier: Apache-2.0
// Any list of patterns and any host: the decision is that of a plain reading of the patterns'
// texts. The input's first line is the host; each other line is a pattern, refused where it begins
// with "!".
#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "promise.h"

namespace {

using cordon::fuzz::broken;
using cordon::policy::HostPattern;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::optional<std::uint32_t> number_of(const std::string& quad) {
  in_addr address{};
  if (::inet_pton(AF_INET, quad.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

// How specific the pattern is to this host; 0: it does not match.
std::size_t rank(const std::string& pattern, const std::string& host) {
  if (pattern == host) return 1000;
  if (pattern.starts_with("*.")) {
    const std::string below = pattern.substr(1);
    return host.size() > below.size() && host.ends_with(below) ? below.size() : 0;
  }
  const auto slash = pattern.find('/');
  if (slash == std::string::npos) return 0;
  const auto first = number_of(pattern.substr(0, slash));
  const auto address = number_of(host);
  const auto bits = static_cast<unsigned>(std::stoi(pattern.substr(slash + 1)));
  if (!first || !address) return 0;
  const std::uint64_t last = std::uint64_t{*first} + (std::uint64_t{1} << (32U - bits)) - 1;
  return *address >= *first && *address <= last ? bits : 0;
}

// What the lines say, and what they must decide.
struct Lines {
  cordon::policy::PolicyDocument document;
  bool denied = false;
  std::size_t nearest = 0;  // of the rules that match: how specific
  bool open = false;        // one of the nearest allows every request
};

void add_rule(Lines& all, HostPattern pattern, std::size_t found, bool open) {
  cordon::policy::EgressRule rule;
  rule.host = std::move(pattern);
  rule.addresses = cordon::policy::Addresses::private_;
  if (!open) rule.methods = {"GET"};
  all.document.network.egress_allowlist.items.push_back(std::move(rule));
  if (found > all.nearest) {
    all.nearest = found;
    all.open = open;
  } else if (found != 0 && found == all.nearest) {
    all.open = all.open || open;  // all rules of one pattern allow together
  }
}

Lines read_lines(const std::vector<std::string>& lines) {
  Lines all;
  all.document.sources.push_back({"fuzz.toml", cordon::policy::Origin::user});
  all.document.network.mode = {.value = cordon::policy::NetworkMode::restricted, .place = {}};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool refuses = lines[i].starts_with('!');
    const std::string text = refuses ? lines[i].substr(1) : lines[i];
    auto pattern = cordon::policy::parse_host_pattern(text);
    if (!pattern) continue;
    const std::size_t found = rank(text, lines.front());
    if (refuses) {
      all.document.network.egress_denylist.items.push_back({*std::move(pattern), {}});
      all.denied = all.denied || found != 0;
    } else {
      // Every third allows nothing but a GET, so that it matters which one decides.
      add_rule(all, *std::move(pattern), found, i % 3 != 0);
    }
  }
  return all;
}

bool is_out_of_reach(const std::string& host) {
  if (const auto quad = cordon::policy::ipv4_from(host)) {
    return cordon::policy::kind_of(*quad) == cordon::policy::AddressKind::forbidden;
  }
  return !cordon::policy::is_canonical_name(host) || host == "localhost" ||
         host.ends_with(".localhost") || host == cordon::policy::kHostName;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const auto lines = lines_of({reinterpret_cast<const char*>(data), size});
  const std::string& host = lines.front();
  Lines all = read_lines(lines);
  const auto policy =
      cordon::policy::check(std::move(all.document), cordon::policy::Origin::user, {});
  if (!policy) return 0;
  const bool connects = !is_out_of_reach(host) && !all.denied && all.nearest != 0;
  if (policy->decide({.host = host, .port = 443}).allowed() != connects) {
    broken("a connection is decided by the patterns");
  }
  const bool puts = connects && all.open;
  if (policy->decide({.host = host, .port = 443, .method = "PUT", .path = "/x"}).allowed() !=
      puts) {
    broken("a request is decided by the most specific pattern");
  }
  const bool quad = cordon::policy::ipv4_from(host).has_value();
  if (!quad && policy->decide_name(host).allowed() != connects) {
    broken("a name is looked up where it may be connected to");
  }
  if (quad && policy->decide_address(host).allowed() == all.denied) {
    broken("an address is refused where a deny-list has it");
  }
  return 0;
}
