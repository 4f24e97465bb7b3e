// SPDX-License-Identifier: Apache-2.0
#include "policy/suggest_parts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "policy/glob.h"
#include "policy/learn_tables.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

constexpr std::size_t kSiblings = 3;

Suggestion kept(const Denial& denial, Sign sign, std::string_view risk, std::string word) {
  const auto act = act_of(denial);
  return {.sign = sign,
          .kind = act ? std::string{kind_of(*act)}
                      : std::string{denial.code.starts_with("CORDON-NET-") ? "net" : "other"},
          .what = act ? words_of(*act) : printable(denial.tried),
          .uses = denial.count,
          .risk = std::string{risk},
          .word = std::move(word)};
}

std::optional<Suggestion> kept_host(const Denial& denial, const NetAct& act) {
  if (const auto kind = kind_of_way_out(act.host)) {
    return kept(denial, Sign::never, *kind, "not suggested");
  }
  if (act.host == kHostName) {
    return kept(denial, Sign::left, "this machine",
                fmt::format("a service of the host: network.host_ports = [{}], if it is meant to",
                            act.port));
  }
  if (ipv4_from(act.host)) {
    return kept(denial, Sign::left, "address", "nobody can tell whose it is: allow a name instead");
  }
  return std::nullopt;
}

std::string parent_directory(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool may_stand_for_its_files(const std::string& directory, const Lesson& lesson) {
  return !is_too_wide(directory, lesson.home) && !is_secret_path(directory) &&
         !may_hold_secrets(directory) && !below(lesson.workspace, directory) &&
         lesson.is_there(directory);
}

// The registry that a tool of this machine is configured for.
std::optional<std::string> registry_at(const NetAct& act, const Registries& registries) {
  for (const auto& [name, hosts] : registries) {
    const RegistryHost wanted{act.host, act.port};
    if (std::ranges::find(hosts, wanted) != hosts.end()) return name;
  }
  return std::nullopt;
}

void word_of_host(Suggestion& one, const NetAct& act, const Lesson& lesson) {
  if (const auto registry = registry_at(act, lesson.registries)) {
    one.risk = "low risk";
    one.word = fmt::format("what {} is configured for", *registry);
  } else if (act.port != 443 && act.port != 80) {
    one.risk = "high risk";
    one.word = "any protocol: nothing of it is judged";
  } else {
    one.risk = "medium risk";
    one.word = act.method.empty() ? "what is sent there is out" : "only this request";
  }
}

void word_of_path(Suggestion& one, const PathAct& act, const Lesson& lesson) {
  one.what = short_path(act.path, lesson.home);
  const bool writes = act.access == Access::write;
  if (is_cache(act.path)) {
    one.risk = "low risk";
    one.word = "regenerable cache";
  } else if (below(act.path, lesson.workspace)) {
    one.risk = "medium risk";
    one.word = "the whole workspace becomes writable";
  } else {
    one.risk = "medium risk";
    one.word = writes ? "written on this machine, without review" : "shown as it is";
  }
}

}  // namespace

bool is_no_matter_of_a_policy(const Denial& denial) {
  return denial.code == "CORDON-NET-OUTSIDE" || denial.code == "CORDON-NET-LOST" ||
         denial.code == "CORDON-AUDIT-LOST";
}

std::optional<Suggestion> kept_from_suggesting(const Denial& denial, const Lesson& lesson) {
  if (denial.code == "CORDON-NET-CREDENTIAL" || denial.code == "CORDON-NET-SECRET") {
    return kept(denial, Sign::left, "SECRET", "use a credential rule: [[credentials.grants]]");
  }
  const auto act = act_of(denial);
  if (!act) {
    return kept(denial, Sign::left, "by hand",
                printable(denial.fix.empty() ? denial.why : denial.fix));
  }
  if (const auto* const net = std::get_if<NetAct>(&*act)) return kept_host(denial, *net);
  const auto& path = std::get<PathAct>(*act);
  if (!is_secret_path(path.path)) return std::nullopt;
  Suggestion one =
      kept(denial, Sign::left, "SECRET", "use a credential rule instead: [[credentials.grants]]");
  one.what = short_path(path.path, lesson.home);
  return one;
}

std::vector<Wish> in_directories(std::vector<Wish> wishes, const Lesson& lesson) {
  std::map<PathAct, std::vector<std::string>> siblings;  // by access and directory
  for (const Wish& wish : wishes) {
    const auto* const path = std::get_if<PathAct>(&wish.act);
    if (path == nullptr || below(path->path, lesson.workspace)) continue;
    std::vector<std::string>& known = siblings[{path->access, parent_directory(path->path)}];
    if (std::ranges::find(known, path->path) == known.end()) known.push_back(path->path);
  }
  for (Wish& wish : wishes) {
    auto* const path = std::get_if<PathAct>(&wish.act);
    if (path == nullptr) continue;
    const auto found = siblings.find({path->access, parent_directory(path->path)});
    if (found == siblings.end() || found->second.size() < kSiblings) continue;
    if (may_stand_for_its_files(found->first.path, lesson)) path->path = found->first.path;
  }
  return wishes;
}

Suggestion suggestion_of(const Wish& wish, const Lesson& lesson) {
  Suggestion one{.sign = Sign::suggested,
                 .kind = std::string{kind_of(wish.act)},
                 .what = words_of(wish.act),
                 .uses = wish.uses,
                 .risk = {},
                 .word = {}};
  if (const auto* const net = std::get_if<NetAct>(&wish.act)) {
    word_of_host(one, *net, lesson);
  } else {
    word_of_path(one, std::get<PathAct>(wish.act), lesson);
  }
  return one;
}

Suggestion left_to_a_person(const Wish& wish, std::string_view why, const Lesson& lesson) {
  Suggestion one = suggestion_of(wish, lesson);
  one.sign = Sign::left;
  one.risk = "by hand";
  one.word = std::string{why};
  return one;
}

std::optional<std::string> hindrance_of(const Change& change, const Wish& wish,
                                        const Explanation& told, const Lesson& lesson) {
  if (change.edit == Edit::none) return change.value;
  if (change.edit == Edit::remove) return fmt::format("{} ({})", told.sentence, told.rule);
  if (!change.key.starts_with("filesystem.host_mounts")) return std::nullopt;
  const auto* const path = std::get_if<PathAct>(&wish.act);
  if (path == nullptr) return std::nullopt;
  if (is_too_wide(path->path, lesson.home) || below(lesson.workspace, path->path)) {
    return "too wide to be shown whole";
  }
  if (may_hold_secrets(path->path)) return "there are secrets in it";
  if (!lesson.is_there(path->path)) return "not on this machine: make it first, or another place";
  return std::nullopt;
}

std::string short_path(const std::string& path, const std::string& home) {
  if (!is_normal_path(home) || home == "/") return printable(path);
  const auto inside = below(path, home);
  if (!inside) return printable(path);
  return inside->empty() ? "~" : printable(fmt::format("~/{}", *inside));
}

}  // namespace cordon::policy
