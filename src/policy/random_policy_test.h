// SPDX-License-Identifier: Apache-2.0
// Random documents and questions over small vocabularies, so that they often meet: for the laws and
// for the comparison with a plain model.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "policy/parse.h"
#include "policy/policy.h"

namespace cordon::policy::random {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_{seed} {}
  std::size_t below(std::size_t count) { return generator_() % count; }
  bool percent(std::size_t chance) { return below(100) < chance; }
  std::string_view one_of(std::initializer_list<std::string_view> all) {
    return all.begin()[below(all.size())];
  }
  // Some of `all`, each once, in quotes and commas; at least `least`.
  std::string some_of(std::initializer_list<std::string_view> all, std::size_t least = 0) {
    std::vector<std::string_view> picked{all};
    std::ranges::shuffle(picked, generator_);
    picked.resize(least + below(all.size() + 1 - least));
    std::string text;
    for (const std::string_view one : picked)
      text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", one);
    return text;
  }

 private:
  std::mt19937_64 generator_;
};

// Who writes: a workspace file may not name things of the host.
enum class Writer : std::uint8_t { user, workspace };

inline std::string random_rule(Dice& dice, Writer writer) {
  const std::string_view host = dice.one_of({"a.example", "a.example", "*.a.example", "x.a.example",
                                             "*.x.a.example", "b.example", "93.184.216.34"});
  std::string rule = fmt::format("{{ host = \"{}\"", host);
  const std::size_t port = dice.below(6);
  const bool tcp = port == 0;
  if (tcp) rule += ", port = 22, protocol = \"tcp\"";
  if (port == 1) rule += ", port = 8443, protocol = \"tls\"";
  if (port == 2) rule += ", port = 80";
  const bool judged = !tcp && dice.percent(50);
  if (judged && dice.percent(60))
    rule += fmt::format(", methods = [{}]", dice.some_of({"GET", "POST", "PUT"}, 1));
  else if (judged)
    rule += ", methods = [\"GET\", \"HEAD\"]";
  if (judged && dice.percent(60))
    rule += fmt::format(", paths = [{}]", dice.some_of({"/v1", "/v1/**", "/*/a", "/", "/**/b"}, 1));
  if (judged && dice.percent(40)) rule += ", websocket = true";
  if (writer == Writer::user && dice.percent(10)) rule += ", addresses = \"private\"";
  return rule + " }";
}

inline void add_network(Dice& dice, Writer writer, std::string& text) {
  text += "[network]\n";
  const std::size_t mode = dice.below(100);
  const bool restricted = mode >= 30;
  if (mode < 5) {
    text += "mode = \"none\"\n";
    return;
  }
  if (mode < 30) {
    text += fmt::format("mode = \"public\"\negress_denylist = [{}]\n",
                        dice.some_of({"b.example", "*.x.a.example", "c.example", "93.184.216.34",
                                      "93.184.216.0/24"}));
  } else if (dice.percent(80)) {
    text += "mode = \"restricted\"\n";
  }
  if (dice.percent(90)) {
    text += "egress_allowlist = [\"a.example\", ";
    if (writer == Writer::user && dice.percent(30))
      text += "{ host = \"10.0.0.5\", addresses = \"private\" }, ";
    if (writer == Writer::user && dice.percent(30))
      text += "{ host = \"10.0.0.0/16\", addresses = \"private\" }, ";
    for (std::size_t i = 0, n = dice.below(7); i < n; ++i) text += random_rule(dice, writer) + ", ";
    text += "]\n";
  }
  if (restricted && dice.percent(65)) text += "ask = true\n";
  if (dice.percent(70))
    text += fmt::format("ingress = [{}]\n",
                        dice.one_of({"80, 22", "80, 3000, 8080", "80, 3000", "80, 8080, 22"}));
  if (writer == Writer::user && dice.percent(60))
    text += fmt::format("host_ports = [{}]\n", dice.one_of({"443", "443, 22", "22, 80", "5432"}));
  if (dice.percent(50)) text += fmt::format("requests_per_minute = {}\n", 1 + dice.below(4));
  if (dice.percent(50)) text += fmt::format("connections = {}\n", 1 + dice.below(4));
  if (dice.percent(50)) text += fmt::format("bandwidth = \"{}Mi\"\n", 1 + dice.below(4));
}

inline void add_filesystem(Dice& dice, Writer writer, std::string& text) {
  text += "[filesystem]\n";
  if (writer == Writer::user && dice.percent(50))
    text += fmt::format("root = \"{}\"\n", dice.one_of({"host", "dir:/srv", "image:x"}));
  if (dice.percent(25))
    text += fmt::format("workspace = \"{}\"\n", dice.one_of({"/workspace", "/w"}));
  if (dice.percent(50))
    text += fmt::format("mode = \"{}\"\n", dice.one_of({"read_write", "read_write", "read_only"}));
  if (dice.percent(50))
    text += fmt::format("hide = [{}]\n", dice.some_of({"**/.env", "src/b", "/etc/b", "**/*.key"}));
  if (dice.percent(50))
    text += fmt::format("protect = [{}]\n",
                        dice.some_of({".git", "src/*", "**/a.key", "/tmp/a", "src/**/b"}));
  if (dice.percent(40)) text += fmt::format("review = {}\n", dice.percent(50));
  if (writer == Writer::user && dice.percent(60)) {
    text += "host_mounts = [";
    for (const std::string_view target : {"/docs", "/docs/a", "/workspace/src/a"}) {
      if (!dice.percent(50)) continue;
      text += fmt::format("{{ source = \"/opt\", target = \"{}\", mode = \"{}\" }}, ", target,
                          dice.one_of({"read_only", "read_write"}));
    }
    text += "]\n";
  }
}

inline std::string random_tool_rule(Dice& dice, std::string_view server) {
  std::string rule = fmt::format("[[tools.{}.rules]]\ntool = \"{}\"\neffect = \"{}\"\n", server,
                                 dice.one_of({"get_issue", "get_*", "*", "delete_*", "*_issue"}),
                                 dice.one_of({"allow", "ask", "ask", "ask", "deny"}));
  if (dice.percent(40)) rule += fmt::format("calls_per_minute = {}\n", 1 + dice.below(5));
  if (dice.percent(25))
    rule += dice.one_of({"arguments = { properties = { repo = { const = \"acme\" } } }\n",
                         "arguments = { required = [\"repo\"] }\n"});
  return rule;
}

inline void add_tools(Dice& dice, std::string& text) {
  for (const std::string_view server : {"github", "files"}) {
    if (dice.percent(8)) continue;
    text += fmt::format("[tools.{}]\n", server);
    if (dice.percent(70))
      text += fmt::format("allow = [{}]\n",
                          dice.some_of({"get_*", "get_issue", "*", "delete_issue"}, 1));
    if (dice.percent(20))
      text += fmt::format("deny = [{}]\n", dice.some_of({"delete_*", "get_pull"}, 1));
    for (std::size_t i = 0, n = dice.below(4); i < n; ++i) text += random_tool_rule(dice, server);
  }
}

inline void add_grants(Dice& dice, std::string& text) {
  for (const std::string_view name : {"one", "two"}) {
    if (dice.percent(25)) continue;
    text += fmt::format(
        "[[credentials.grants]]\nname = \"{}\"\nfrom = \"secret:s\"\nhost = \"a.example\"\n"
        "header = \"X-Key: {{secret}}\"\n",
        name);
    if (dice.percent(30)) text += fmt::format("methods = [{}]\n", dice.some_of({"GET", "POST"}, 1));
    if (dice.percent(30)) text += fmt::format("paths = [{}]\n", dice.some_of({"/v1", "/*/a"}, 1));
  }
}

inline void add_values(Dice& dice, Writer writer, std::string& text) {
  if (dice.percent(60))
    text += fmt::format("isolation = \"{}\"\n", dice.one_of({"process", "gvisor", "microvm"}));
  if (dice.percent(60))
    text += fmt::format("require = [{}]\n",
                        dice.some_of({"seccomp", "landlock:3", "landlock:5", "cgroup"}));
  text += "[resources]\n";
  for (const std::string_view key : {"pids_limit", "timeout_seconds", "cpu_seconds", "cpu_limit"}) {
    if (dice.percent(50)) text += fmt::format("{} = {}\n", key, 1 + dice.below(4));
  }
  for (const std::string_view key : {"inodes_limit", "open_files"}) {
    if (dice.percent(50)) text += fmt::format("{} = {}\n", key, 16 + dice.below(4));
  }
  for (const std::string_view key :
       {"memory_limit", "disk_limit", "io_limit", "output_limit", "egress_limit"}) {
    if (dice.percent(50)) text += fmt::format("{} = \"{}Mi\"\n", key, 1 + dice.below(4));
  }
  text += "[environment]\n";
  if (dice.percent(60))
    text += fmt::format("pass = [{}]\n", dice.some_of({"LANG", "A*", "AB", "CI", "HOME"}, 1));
  if (dice.percent(50)) text += fmt::format("set = {{ {} = \"1\" }}\n", dice.one_of({"CI", "AB"}));
  text += "[syscalls]\n";
  const bool compat = dice.percent(50);
  text += fmt::format("profile = \"{}\"\n", compat ? "compat" : "strict");
  text += "[process]\n";
  if (dice.percent(50)) text += fmt::format("user = \"{}\"\n", dice.one_of({"root", "user"}));
  if (compat && dice.percent(70))
    text += fmt::format("capabilities = [{}]\n", dice.some_of({"chown", "kill", "setuid"}));
  if (writer == Writer::workspace && dice.percent(30)) {
    text += fmt::format("[credentials]\nmode = \"{}\"\n", dice.one_of({"none", "just_in_time"}));
  } else if (dice.percent(50)) {
    text += fmt::format("[credentials]\nsecret_scanning = {}\n", dice.percent(50));
  }
}

// TOML that parses and that its writer may write.
inline std::string random_document(Dice& dice, Writer writer) {
  std::string text;
  if (writer == Writer::user || dice.percent(70)) add_values(dice, writer, text);
  if (writer == Writer::user || dice.percent(50)) add_filesystem(dice, writer, text);
  std::string network;
  if (writer == Writer::user || dice.percent(50)) add_network(dice, writer, network);
  text += network;
  if (writer == Writer::user || dice.percent(50)) add_tools(dice, text);
  const bool reachable = network.contains("\"a.example\", ") || network.contains("\"public\"");
  if (writer == Writer::user && reachable) add_grants(dice, text);
  return text;
}

inline PolicyDocument parsed(const std::string& text) {
  auto document = parse(text, "random.toml", Syntax::toml);
  if (!document) throw std::logic_error{document.error().text() + "\n" + text};
  return *std::move(document);
}

inline Policy random_policy(Dice& dice) {
  const std::string text = random_document(dice, Writer::user);
  auto policy = check(parsed(text), Origin::user, {});
  if (!policy) throw std::logic_error{policy.error().text() + "\n" + text};
  return *std::move(policy);
}

struct VariableQuery {
  std::string_view name;
};
struct IngressQuery {
  std::uint16_t port = 80;
};
using Question =
    std::variant<PathQuery, NetQuery, ToolQuery, CredentialQuery, VariableQuery, IngressQuery>;
inline constexpr std::size_t kKinds = std::variant_size_v<Question>;
inline constexpr std::string_view kKindNames[] = {"path",       "net",      "tool",
                                                  "credential", "variable", "ingress"};

// All texts of a question live as long as the program.
inline PathQuery random_path(Dice& dice) {
  constexpr Access kAll[] = {Access::read, Access::write, Access::exec};
  return {kAll[dice.below(3)],
          dice.one_of({"/workspace",
                       "/workspace/src/a",
                       "/workspace/src/b",
                       "/workspace/.env",
                       "/workspace/src/x/b/y",
                       "/workspace/.git/config",
                       "/workspace/a.key",
                       "/w/src/b",
                       "/w/x",
                       "/docs/a",
                       "/docs/a/a.key",
                       "/docs/b",
                       "/etc/b",
                       "/etc/hosts",
                       "/etc/shadow",
                       "/usr/bin/x",
                       "/home/u",
                       "/tmp/a",
                       "/tmp/b",
                       "/dev/null",
                       "/dev/sda",
                       "/proc/self",
                       "/sys/x",
                       "/",
                       "/workspace/../etc",
                       "/workspace//a",
                       "x"}),
          dice.one_of({"/workspace", "/workspace", "/w"})};
}

inline NetQuery random_net(Dice& dice) {
  constexpr std::uint16_t kPorts[] = {443, 443, 443, 443, 80, 22, 8443, 5432};
  NetQuery query{
      .host = dice.one_of({"a.example", "a.example", "x.a.example", "y.x.a.example",
                           "z.y.x.a.example", "b.example", "c.example", "d.example",
                           "93.184.216.34", "a.example", "10.0.0.5", "10.0.7.7", "169.254.169.254",
                           "host.cordon.internal", "A.example", "localhost", "xa.example"}),
      .port = kPorts[dice.below(std::size(kPorts))]};
  if (dice.percent(60)) {
    query.method = dice.one_of({"GET", "GET", "POST", "PUT", "HEAD", "PROPFIND"});
    query.path = dice.one_of({"/", "/v1", "/v1/", "/v1/x", "/v1/x/b", "/x/a", "/x/a/y", "/b",
                              "/v1/../x", "/v1/%2e%2e/x", "//v1", "/v1;x", "/v1/%20", "v1"});
    query.websocket = dice.percent(25);
  }
  return query;
}

inline Question random_question(Dice& dice, std::size_t kind) {
  switch (kind) {
    case 0:
      return random_path(dice);
    case 1:
      return random_net(dice);
    case 2:
      return ToolQuery{dice.one_of({"github", "github", "github", "files", "files", "other"}),
                       dice.one_of({"get_issue", "get_pull", "delete_issue", "other"}),
                       dice.one_of({"", "", "{\"repo\":\"acme\"}", "{\"repo\":\"evil\"}",
                                    "{\"repo\":1,\"repo\":2}"})};
    case 3:
      return CredentialQuery{dice.one_of({"one", "two", "two", "three"}),
                             dice.one_of({"a.example", "a.example", "b.example"}),
                             dice.one_of({"GET", "POST"}),
                             dice.one_of({"/v1", "/v1/a", "/x/a", "/x", "/v1/%2e"})};
    case 4:
      return VariableQuery{dice.one_of({"LANG", "AB", "AC", "CI", "HOME", "LC_ALL", "AWS_KEY"})};
    default: {
      constexpr std::uint16_t kPorts[] = {80, 3000, 8080, 22};
      return IngressQuery{kPorts[dice.below(std::size(kPorts))]};
    }
  }
}

inline Decision ask(const Policy& policy, const Question& question) {
  return std::visit(
      [&]<class Q>(const Q& query) {
        if constexpr (std::is_same_v<Q, VariableQuery>) {
          return policy.decide_variable(query.name);
        } else if constexpr (std::is_same_v<Q, IngressQuery>) {
          return policy.decide_ingress(query.port);
        } else {
          return policy.decide(query);
        }
      },
      question);
}

// For a failure's message.
inline std::string to_string(const Question& question) {
  if (const auto* const q = std::get_if<PathQuery>(&question))
    return fmt::format("{} {} (workspace {})", policy::to_string(q->access), q->path, q->workspace);
  if (const auto* const q = std::get_if<NetQuery>(&question))
    return fmt::format("{}:{} {} {} websocket={}", q->host, q->port, q->method, q->path,
                       q->websocket);
  if (const auto* const q = std::get_if<ToolQuery>(&question))
    return fmt::format("{}.{}({})", q->server, q->tool, q->arguments);
  if (const auto* const q = std::get_if<CredentialQuery>(&question))
    return fmt::format("grant {} to {} {} {}", q->grant, q->host, q->method, q->path);
  if (const auto* const q = std::get_if<VariableQuery>(&question))
    return fmt::format("variable {}", q->name);
  return fmt::format("ingress {}", std::get<IngressQuery>(question).port);
}

}  // namespace cordon::policy::random
