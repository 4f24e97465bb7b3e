// SPDX-License-Identifier: Apache-2.0
// Every explanation names its rule, and the change that it proposes really turns the decision.
#include "policy/explain.h"

#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policy/parse.h"

namespace cordon::policy {
namespace {

Policy load(const std::string& text, Origin origin = Origin::user) {
  auto document = parse(text, "p.toml", Syntax::toml);
  EXPECT_TRUE(document) << document.error().text() << '\n' << text;
  auto policy = check(*std::move(document), origin, {});
  EXPECT_TRUE(policy) << policy.error().text() << '\n' << text;
  return *std::move(policy);
}

struct ExplainCase {
  std::string name;
  std::string text;  // the document
  std::function<Explanation(const Policy&)> ask;
  std::string rule;      // expected
  std::string sentence;  // expected
  std::string change;    // expected
  std::string changed;   // the document after the change; empty: no change can turn it
};

auto reads(const std::string& path) {
  return [path](const Policy& p) { return explain(p, PathQuery{Access::read, path}); };
}
auto writes(const std::string& path) {
  return [path](const Policy& p) { return explain(p, PathQuery{Access::write, path}); };
}
auto dials(const std::string& host, std::uint16_t port = 443, const std::string& method = {},
           const std::string& path = {}, bool websocket = false) {
  return [=](const Policy& p) { return explain(p, NetQuery{host, port, method, path, websocket}); };
}
auto calls(const std::string& server, const std::string& tool, const std::string& arguments = {}) {
  return [=](const Policy& p) { return explain(p, ToolQuery{server, tool, arguments}); };
}

const ExplainCase kCases[] = {
    {"hidden", "[filesystem]\nhide = [\"**/.env\"]", reads("/workspace/a/.env"), "p.toml:2",
     "/workspace/a/.env is hidden by the pattern `**/.env`",
     "remove the rule from filesystem.hide at p.toml:2", "[filesystem]\nhide = []"},
    {"protected", "[filesystem]\nprotect = [\".git\"]", writes("/workspace/.git/config"),
     "p.toml:2",
     "/workspace/.git/config is protected by the pattern `.git`: it may be read, never written",
     "remove the rule from filesystem.protect at p.toml:2", "[filesystem]\nprotect = []"},
    {"absent", "[filesystem]\nroot = \"host\"", reads("/srv/data"), "p.toml:2",
     "/srv/data does not exist inside: root = \"host\" does not show it and nothing mounts it",
     "add { source = \"/srv/data\", target = \"/srv/data\", mode = \"read_only\", why = \"…\" } to "
     "filesystem.host_mounts in p.toml",
     "[filesystem]\nroot = \"host\"\nhost_mounts = [{ source = \"/srv/data\", target = "
     "\"/srv/data\", mode = "
     "\"read_only\", why = \"…\" }]"},
    {"system", "[filesystem]\nroot = \"image:debian-12\"", writes("/usr/bin/x"), "p.toml:2",
     "/usr/bin/x is in the system tree, which is never writable",
     "write below the workspace or /tmp instead", ""},
    {"a place of an image", "[filesystem]\nroot = \"image:debian-12\"", writes("/srv/x"),
     "p.toml:2", "/srv/x is in the system tree, which is never writable",
     "add { source = \"/srv/x\", target = \"/srv/x\", mode = \"read_write\", why = \"…\" } to "
     "filesystem.host_mounts in p.toml",
     "[filesystem]\nroot = \"image:debian-12\"\nhost_mounts = [{ source = \"/srv/x\", target = "
     "\"/srv/x\", mode = \"read_write\", why = \"…\" }]"},
    {"secrets of the host", "[filesystem]\nroot = \"host\"", reads("/etc/shadow"), "p.toml:2",
     "/etc/shadow does not exist inside: root = \"host\" does not show it and nothing mounts it",
     "add { source = \"/etc/shadow\", target = \"/etc/shadow\", mode = \"read_only\", why = \"…\" "
     "} to filesystem.host_mounts in p.toml",
     "[filesystem]\nroot = \"host\"\nhost_mounts = [{ source = \"/etc/shadow\", target = "
     "\"/etc/shadow\", mode = \"read_only\", why = \"…\" }]"},
    {"sysfs", "", reads("/sys/kernel"), "default", "/sys/kernel does not exist in any sandbox",
     "no policy can allow it: every sandbox has these trees for itself", ""},
    {"read_only workspace", "[filesystem]\nmode = \"read_only\"", writes("/workspace/x"),
     "p.toml:2", "/workspace/x is in the workspace, whose mode is read_only",
     "set filesystem.mode = \"read_write\" in p.toml", "[filesystem]\nmode = \"read_write\""},
    {"read_only mount", "[filesystem]\nhost_mounts = [{ source = \"/a\", target = \"/a\" }]",
     writes("/a/x"), "p.toml:2", "/a/x is in a mount of the host whose mode is read_only",
     "set filesystem.host_mounts[].mode = \"read_write\" at p.toml:2",
     "[filesystem]\nhost_mounts = [{ source = \"/a\", target = \"/a\", mode = \"read_write\" }]"},
    {"own", "", writes("/proc/sys/kernel/core_pattern"), "default",
     "/proc/sys/kernel/core_pattern is the sandbox's own and may only be read",
     "no policy can allow it: every sandbox has these trees for itself", ""},
    {"bad path", "", reads("/workspace/../etc/shadow"), "default",
     "/workspace/../etc/shadow is no path in its one spelling: absolute, without `.`, `..`, `//` "
     "or a slash at the end",
     "no policy can allow it; ask for the path in its one spelling", ""},
    {"allowed write", "", writes("/workspace/a[1].txt"), "default",
     "/workspace/a[1].txt is in the workspace",
     R"(add "/workspace/a\\[1\\].txt" to filesystem.protect in p.toml)",
     "[filesystem]\nprotect = [\"/workspace/a\\\\[1\\\\].txt\"]"},
    {"allowed read", "", reads("/usr/bin/python3"), "default",
     "/usr/bin/python3 is in the system tree (root = \"host\" by default)",
     "add \"/usr/bin/python3\" to filesystem.hide in p.toml",
     "[filesystem]\nhide = [\"/usr/bin/python3\"]"},

    {"no network", "", dials("a.example"), "default", "there is no network",
     "set network = { mode = \"restricted\", egress_allowlist = [\"a.example:443\"] } in p.toml",
     "network = { mode = \"restricted\", egress_allowlist = [\"a.example:443\"] }"},
    {"not listed", "[network]\negress_allowlist = [\"b.example\"]", dials("a.example"), "p.toml:2",
     "a.example:443 is not in egress_allowlist",
     "add \"a.example:443\" to network.egress_allowlist in p.toml",
     "[network]\negress_allowlist = [\"b.example\", \"a.example:443\"]"},
    {"other port", "[network]\negress_allowlist = [\"a.example\"]", dials("a.example", 22),
     "p.toml:2", "a.example:22 is not in egress_allowlist",
     "add { host = \"a.example\", port = 22, protocol = \"tcp\", why = \"…\" } to "
     "network.egress_allowlist in p.toml",
     "[network]\negress_allowlist = [\"a.example\", { host = \"a.example\", port = 22, protocol = "
     "\"tcp\", why = \"…\" }]"},
    {"method",
     "[network]\negress_allowlist = [{ host = \"a.example\", methods = [\"GET\", \"HEAD\"] }]",
     dials("a.example", 443, "POST", "/x"), "p.toml:2", "a.example allows GET, HEAD only",
     "add \"POST\" to network.egress_allowlist[].methods at p.toml:2",
     "[network]\negress_allowlist = [{ host = \"a.example\", methods = [\"GET\", \"HEAD\", "
     "\"POST\"] }]"},
    {"path", "[network]\negress_allowlist = [{ host = \"a.example\", paths = [\"/x/**\"] }]",
     dials("a.example", 443, "GET", "/y"), "p.toml:2", "a.example allows requests on /x/** only",
     "add \"/y\" to network.egress_allowlist[].paths at p.toml:2",
     "[network]\negress_allowlist = [{ host = \"a.example\", paths = [\"/x/**\", \"/y\"] }]"},
    {"odd path", "[network]\negress_allowlist = [{ host = \"a.example\", paths = [\"/x/**\"] }]",
     dials("a.example", 443, "GET", "/x/%2e%2e/y"), "p.toml:2",
     "the path `/x/%2e%2e/y` is spelled in a way that servers read differently (escapes of plain "
     "characters, `//`, `..`, "
     "`;`, `?` and the like), and is refused where paths are judged",
     "no policy can allow it; send the path in its plain spelling", ""},
    {"websocket", "[network]\negress_allowlist = [{ host = \"a.example\", methods = [\"GET\"] }]",
     dials("a.example", 443, "GET", "/x", true), "p.toml:2",
     "a.example is judged by requests and may not become a WebSocket",
     "set network.egress_allowlist[].websocket = true at p.toml:2",
     "[network]\negress_allowlist = [{ host = \"a.example\", methods = [\"GET\"], websocket = true "
     "}]"},
    {"denied host", "[network]\nmode = \"public\"\negress_denylist = [\"*.example.net\"]",
     dials("a.example.net"), "p.toml:3", "a.example.net:443 is refused by egress_denylist",
     "remove the rule from network.egress_denylist at p.toml:3", "[network]\nmode = \"public\""},
    {"public port", "[network]\nmode = \"public\"", dials("a.example", 25), "p.toml:2",
     "under mode = \"public\" only ports 443 and 80 are open; 25 is not",
     "add { host = \"a.example\", port = 25, protocol = \"tcp\", why = \"…\" } to "
     "network.egress_allowlist in p.toml",
     "[network]\nmode = \"public\"\negress_allowlist = [{ host = \"a.example\", port = 25, "
     "protocol = \"tcp\", why = \"…\" }]"},
    {"private address", "[network]\nmode = \"public\"", dials("10.1.2.3"), "default",
     "10.1.2.3 is no public address",
     "add { host = \"10.1.2.3\", port = 443, protocol = \"tcp\", addresses = \"private\", why = "
     "\"…\" } to "
     "network.egress_allowlist in p.toml",
     "[network]\nmode = \"public\"\negress_allowlist = [{ host = \"10.1.2.3\", port = 443, "
     "protocol = \"tcp\", addresses = "
     "\"private\", why = \"…\" }]"},
    {"metadata", "[network]\nmode = \"public\"", dials("169.254.169.254", 80), "default",
     "169.254.169.254 is no public address",
     "no policy can allow it: loopback, link-local, metadata and reserved addresses stay refused",
     ""},
    {"host port", "[network]\nmode = \"restricted\"", dials("host.cordon.internal", 5432),
     "default", "port 5432 of the host is not in host_ports",
     "add 5432 to network.host_ports in p.toml",
     "[network]\nmode = \"restricted\"\nhost_ports = [5432]"},
    {"bad host", "[network]\nmode = \"public\"", dials("EVIL.example"), "default",
     "`EVIL.example` is no host name in its one spelling: lower case, no trailing dot, no number "
     "as its last label",
     "no policy can allow it; use the name in its one spelling", ""},
    {"asked", "[network]\nmode = \"restricted\"\nask = true", dials("a.example"), "p.toml:3",
     "a.example:443 is not listed; a human is asked",
     "add \"a.example:443\" to network.egress_allowlist in p.toml",
     "[network]\nmode = \"restricted\"\nask = true\negress_allowlist = [\"a.example:443\"]"},
    {"listed", "[network]\negress_allowlist = [\"a.example\"]", dials("a.example"), "p.toml:2",
     "a.example:443 is in egress_allowlist",
     "remove the rule from network.egress_allowlist at p.toml:2",
     "[network]\negress_allowlist = []"},
    {"public", "[network]\nmode = \"public\"", dials("a.example"), "p.toml:2",
     "a.example:443 is reachable under mode = \"public\", at public addresses only",
     "add \"a.example\" to network.egress_denylist in p.toml",
     "[network]\nmode = \"public\"\negress_denylist = [\"a.example\"]"},
    {"open host port", "[network]\nhost_ports = [5432]", dials("host.cordon.internal", 5432),
     "p.toml:2", "port 5432 of the host is in host_ports",
     "remove the rule from network.host_ports at p.toml:2", "[network]\nhost_ports = []"},

    {"no server", "", calls("github", "get_issue"), "default",
     "there is no [tools.github]: no tool of that server may be called",
     "add \"get_issue\" to tools.github.allow in p.toml",
     "[tools.github]\nallow = [\"get_issue\"]"},
    {"no rule", "[tools.github]\nallow = [\"get_*\"]", calls("github", "list"), "p.toml:1",
     "github/list matches no rule of its server", "add \"list\" to tools.github.allow in p.toml",
     "[tools.github]\nallow = [\"get_*\", \"list\"]"},
    {"denied pattern", "[tools.github]\ndeny = [\"delete_*\"]", calls("github", "delete_x"),
     "p.toml:2", "github/delete_x matches `delete_*`, whose effect is deny",
     "add \"delete_x\" to tools.github.allow in p.toml",
     "[tools.github]\ndeny = [\"delete_*\"]\nallow = [\"delete_x\"]"},
    {"denied name", "[tools.github]\nallow = [\"*\"]\ndeny = [\"delete_x\"]",
     calls("github", "delete_x"), "p.toml:3",
     "github/delete_x matches `delete_x`, whose effect is deny",
     "remove the rule from tools.github at p.toml:3", "[tools.github]\nallow = [\"*\"]"},
    {"arguments",
     "[[tools.github.rules]]\ntool = \"create\"\neffect = \"allow\"\narguments = { required = "
     "[\"repo\"] }",
     calls("github", "create"), "p.toml:1",
     "the arguments of github/create do not satisfy the rule for `create`",
     "set tools.github.rules[].arguments = { … }, a schema that the call satisfies, at p.toml:1",
     "[[tools.github.rules]]\ntool = \"create\"\neffect = \"allow\""},
    {"unreadable arguments",
     "[[tools.github.rules]]\ntool = \"create\"\neffect = \"deny\"\narguments = { required = "
     "[\"repo\"] }",
     calls("github", "create", "{\"a\":1,\"a\":2}"), "p.toml:1",
     "the arguments of github/create cannot be judged: they are not one JSON object without "
     "duplicate keys",
     "no policy can allow it; send one JSON object without duplicate keys", ""},
    {"asked tool", "[[tools.github.rules]]\ntool = \"create\"\neffect = \"ask\"",
     calls("github", "create"), "p.toml:1", "github/create matches `create`, whose effect is ask",
     "set tools.github.rules[].effect = \"allow\" at p.toml:1",
     "[[tools.github.rules]]\ntool = \"create\"\neffect = \"allow\""},
    {"allowed tool", "[tools.github]\nallow = [\"get_*\"]", calls("github", "get_issue"),
     "p.toml:2", "github/get_issue matches `get_*`, whose effect is allow",
     "add \"get_issue\" to tools.github.deny in p.toml",
     "[tools.github]\nallow = [\"get_*\"]\ndeny = [\"get_issue\"]"},
};

TEST(Explain, NamesTheRuleAndTheChange) {
  for (const ExplainCase& c : kCases) {
    const Explanation got = c.ask(load(c.text));
    EXPECT_EQ(got.rule, c.rule) << c.name;
    EXPECT_EQ(got.sentence, c.sentence) << c.name;
    ASSERT_EQ(got.changes.size(), 1U) << c.name;
    EXPECT_EQ(to_string(got.changes[0]), c.change) << c.name;
    EXPECT_EQ(got.changes[0].edit == Edit::none, c.changed.empty()) << c.name;
  }
}

TEST(Explain, ProposesAChangeThatTurnsTheDecision) {
  for (const ExplainCase& c : kCases) {
    if (c.changed.empty()) continue;
    const bool before = c.ask(load(c.text)).effect == Effect::allow;
    const bool after = c.ask(load(c.changed)).effect == Effect::allow;
    EXPECT_NE(before, after) << c.name;
  }
}

// C284: the parent's rule is the explanation, and every document that refuses needs its change.
TEST(Explain, NamesTheParentsRuleAndAllChangesThatAreNeeded) {
  auto parent = parse("[network]\negress_allowlist = [\"b.example\"]", "site.toml", Syntax::toml);
  auto child = parse("[network]\negress_allowlist = [\"c.example\"]", "request.json", Syntax::toml);
  const Policy both =
      attenuate(*check(*parent, Origin::site, {}), *check(*child, Origin::request, {}));
  const Explanation refused_by_parent = explain(both, NetQuery{"c.example"});
  EXPECT_EQ(refused_by_parent.rule, "site.toml:2");
  ASSERT_EQ(refused_by_parent.changes.size(), 1U);
  EXPECT_EQ(refused_by_parent.changes[0].file, "site.toml");
  const Explanation refused_by_both = explain(both, NetQuery{"d.example"});
  ASSERT_EQ(refused_by_both.changes.size(), 2U);
  EXPECT_EQ(refused_by_both.changes[0].file, "site.toml");
  EXPECT_EQ(refused_by_both.changes[1].file, "request.json");
}

TEST(Explain, SaysThatAPresetsRuleStays) {
  const Explanation got =
      explain(load("extends = [\"coding-agent\"]"), PathQuery{Access::read, "/workspace/.env"});
  EXPECT_EQ(got.rule, "preset:coding-agent:9");
  ASSERT_EQ(got.changes.size(), 1U);
  EXPECT_EQ(got.changes[0].edit, Edit::none);
  EXPECT_EQ(to_string(got.changes[0]),
            "it is a rule of preset:coding-agent and of every policy that extends it: extend "
            "another, or none");
}

TEST(Explain, ProposesToDenyAHostThatAPresetAllows) {
  const Policy policy = load("extends = [\"coding-agent\"]");
  const Explanation got = explain(policy, NetQuery{"github.com"});
  ASSERT_EQ(got.changes.size(), 1U);
  EXPECT_EQ(to_string(got.changes[0]), "add \"github.com\" to network.egress_denylist in p.toml");
  EXPECT_FALSE(load("extends = [\"coding-agent\"]\n[network]\negress_denylist = [\"github.com\"]")
                   .decide(NetQuery{"github.com"})
                   .allowed());
}

TEST(Explain, NeverProposesToEditAPreset) {
  auto document = parse("[network]\nmode = \"restricted\"", "preset:mine", Syntax::toml);
  const Policy policy = *check(*std::move(document), Origin::builtin, {});
  EXPECT_EQ(to_string(explain(policy, NetQuery{"a.example"}).changes.at(0)),
            "add \"a.example:443\" to network.egress_allowlist in a policy of your own that "
            "extends mine");
}

TEST(Explain, ProposesToRemoveEveryRuleThatReachesAHost) {
  const Policy policy = load(
      "[network]\negress_allowlist = "
      "[\n\"*.example.org\",\n\"a.example.org\",\n\"b.example.org\"]");
  const Explanation got = explain(policy, NetQuery{"a.example.org"});
  ASSERT_EQ(got.changes.size(), 2U);
  EXPECT_EQ(got.changes[0].at, "p.toml:3");
  EXPECT_EQ(got.changes[1].at, "p.toml:4");
}

}  // namespace
}  // namespace cordon::policy
