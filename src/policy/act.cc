// SPDX-License-Identifier: Apache-2.0
#include "policy/act.h"

#include <charconv>

#include <fmt/format.h>

#include "policy/glob.h"
#include "policy/host.h"

namespace cordon::policy {
namespace {

std::optional<Access> access_of(std::string_view code) {
  if (code == "CORDON-FS-READ") return Access::read;
  if (code == "CORDON-FS-WRITE") return Access::write;
  if (code == "CORDON-FS-EXEC") return Access::exec;
  return std::nullopt;
}

// "write PATH"
std::optional<Act> path_act(Access access, const Denial& denial) {
  std::string path = denial.resolved;
  const std::string verb = std::string{to_string(access)} + ' ';
  if (path.empty() && denial.tried.starts_with(verb)) path = denial.tried.substr(verb.size());
  if (!is_normal_path(path)) return std::nullopt;
  return PathAct{access, std::move(path)};
}

// "HOST:PORT" with an absolute path behind it, or none.
std::optional<Act> net_act(std::string_view method, std::string_view target) {
  const auto slash = std::min(target.find('/'), target.size());
  const std::string_view place = target.substr(0, slash);
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  NetAct act{.host = std::string{place.substr(0, colon)},
             .port = 0,
             .method = std::string{method},
             .path = std::string{target.substr(slash)}};
  const std::string_view digits = place.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), act.port);
  if (error != std::errc{} || end != digits.end() || act.port == 0) return std::nullopt;
  if (!is_canonical_name(act.host) && !ipv4_from(act.host)) return std::nullopt;
  return act;
}

std::optional<Act> name_act(std::string_view name) {
  if (!is_canonical_name(name)) return std::nullopt;
  return NetAct{.host = std::string{name}, .is_lookup = true};
}

NetQuery query_of(const NetAct& act) {
  return {.host = act.host, .port = act.port, .method = act.method, .path = act.path};
}

}  // namespace

std::optional<Act> act_of(const Denial& denial) {
  if (const auto access = access_of(denial.code)) return path_act(*access, denial);
  const std::string_view tried = denial.tried;
  constexpr std::string_view kLookUp = "look up ";
  if (denial.code == "CORDON-NET-NAME" && tried.starts_with(kLookUp)) {
    return name_act(tried.substr(kLookUp.size()));
  }
  if (denial.code != "CORDON-NET-HOST" && denial.code != "CORDON-NET-REQUEST") return std::nullopt;
  const auto blank = tried.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const bool connects = denial.code == "CORDON-NET-HOST";
  return net_act(connects ? std::string_view{} : tried.substr(0, blank), tried.substr(blank + 1));
}

std::string_view kind_of(const Act& act) {
  const auto* const path = std::get_if<PathAct>(&act);
  return path != nullptr ? to_string(path->access) : "net";
}

std::string words_of(const Act& act) {
  if (const auto* const path = std::get_if<PathAct>(&act)) return path->path;
  const auto& net = std::get<NetAct>(act);
  const std::string target = fmt::format("{}:{}", net.host, net.port);
  return net.method.empty() ? target : fmt::format("{} {}{}", net.method, target, net.path);
}

Decision decide(const Policy& policy, const Act& act, std::string_view workspace) {
  if (const auto* const path = std::get_if<PathAct>(&act)) {
    return policy.decide(PathQuery{path->access, path->path, workspace});
  }
  const auto& net = std::get<NetAct>(act);
  return net.is_lookup ? policy.decide_name(net.host) : policy.decide(query_of(net));
}

Explanation explain(const Policy& policy, const Act& act, std::string_view workspace) {
  if (const auto* const path = std::get_if<PathAct>(&act)) {
    return explain(policy, PathQuery{path->access, path->path, workspace});
  }
  return explain(policy, query_of(std::get<NetAct>(act)));
}

}  // namespace cordon::policy
