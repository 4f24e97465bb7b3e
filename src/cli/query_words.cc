// SPDX-License-Identifier: Apache-2.0
#include "cli/query_words.h"

#include <charconv>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

namespace cordon::cli {
namespace {

Error usage(std::string_view what) {
  return {Errc::invalid,
          fmt::format(
              "{}: ask `read PATH`, `write PATH`, `exec PATH`, `net HOST[:PORT] [METHOD PATH]` or "
              "`tool SERVER/TOOL [ARGUMENTS]`",
              what)};
}

std::string resolved(const std::string& path, const Surroundings& around) {
  std::string full = path;
  if (path == "~" || path.starts_with("~/")) full = around.home + path.substr(1);
  if (!full.starts_with('/')) full = around.directory + '/' + full;
  full = std::filesystem::path{full}.lexically_normal().string();
  if (full.size() > 1 && full.ends_with('/')) full.pop_back();
  return full;
}

Result<QueryWords> path_query(policy::Access access, std::span<const std::string> words,
                              const Surroundings& around) {
  if (words.size() != 1) return usage("a path is expected");
  return QueryWords{PathWords{access, resolved(words[0], around), around.workspace}};
}

Result<QueryWords> net_query(std::span<const std::string> words) {
  if (words.size() != 1 && words.size() != 3)
    return usage("a host, or a host, a method and a path are expected");
  NetWords query{.host = words[0]};
  if (const auto colon = query.host.rfind(':'); colon != std::string::npos) {
    const std::string digits = query.host.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), query.port);
    if (error != std::errc{} || end != digits.data() + digits.size() || query.port == 0) {
      return Error{Errc::invalid, fmt::format("{}: `{}` is no port", words[0], digits)};
    }
    query.host.resize(colon);
  }
  if (words.size() == 3) {
    query.method = words[1];
    query.path = words[2].substr(0, words[2].find('?'));  // the query is not judged
  }
  return QueryWords{std::move(query)};
}

Result<QueryWords> tool_query(std::span<const std::string> words) {
  if (words.empty() || words.size() > 2) return usage("a tool is expected");
  const auto slash = words[0].find('/');
  if (slash == std::string::npos) return usage(fmt::format("`{}` names no server", words[0]));
  return QueryWords{ToolWords{words[0].substr(0, slash), words[0].substr(slash + 1),
                              words.size() == 2 ? words[1] : std::string{}}};
}

struct Explain {
  const policy::Policy& policy;
  policy::Explanation operator()(const PathWords& q) const {
    return policy::explain(policy, policy::PathQuery{q.access, q.path, q.workspace});
  }
  policy::Explanation operator()(const NetWords& q) const {
    return policy::explain(policy, policy::NetQuery{q.host, q.port, q.method, q.path});
  }
  policy::Explanation operator()(const ToolWords& q) const {
    return policy::explain(policy, policy::ToolQuery{q.server, q.tool, q.arguments});
  }
};

}  // namespace

Result<QueryWords> query_from(std::span<const std::string> words, const Surroundings& around) {
  if (words.empty()) return usage("nothing is asked");
  const auto rest = words.subspan(1);
  if (words[0] == "read") return path_query(policy::Access::read, rest, around);
  if (words[0] == "write") return path_query(policy::Access::write, rest, around);
  if (words[0] == "exec") return path_query(policy::Access::exec, rest, around);
  if (words[0] == "net") return net_query(rest);
  if (words[0] == "tool") return tool_query(rest);
  return usage(fmt::format("`{}` is no question", words[0]));
}

Result<QueryWords> query_from_line(const std::string& line, const Surroundings& around) {
  std::vector<std::string> words;
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto start = rest.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    rest.remove_prefix(start);
    const bool whole = words.size() == 2 && words[0] == "tool";
    const auto end = whole ? rest.size() : std::min(rest.find(' '), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return query_from(words, around);
}

policy::Explanation explain(const policy::Policy& policy, const QueryWords& query) {
  return std::visit(Explain{policy}, query);
}

}  // namespace cordon::cli
