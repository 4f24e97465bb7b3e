// SPDX-License-Identifier: Apache-2.0
#include "policy/suggest.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "policy/learn_tables.h"
#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

constexpr std::string_view kStrict = "version = 1\nextends = [\"strict\"]\n";

Denial path_denial(std::string access, const std::string& path, std::uint64_t count = 1) {
  std::string code = "CORDON-FS-" + access;
  std::ranges::transform(access, access.begin(), [](unsigned char c) { return std::tolower(c); });
  return {.code = std::move(code), .tried = access + ' ' + path, .count = count};
}
Denial looked_up(const std::string& name, std::uint64_t count = 1) {
  return {.code = "CORDON-NET-NAME", .tried = "look up " + name, .count = count};
}
Denial connected(const std::string& target, std::uint64_t count = 1) {
  return {.code = "CORDON-NET-HOST", .tried = "connect " + target, .count = count};
}
Denial requested(const std::string& words) {
  return {.code = "CORDON-NET-REQUEST", .tried = words};
}

Lesson lesson(std::vector<Denial> denials, std::string_view text = kStrict) {
  return {
      .denials = std::move(denials),
      .verdict = Verdict{.ending = Ending::exit, .status = 1},
      .text = std::string{text},
      .file = "cordon.toml",
      .workspace = "/srv/shop",
      .home = "/home/ada",
      .why = "suggested",
      .registries = {{"@npm", {{"registry.example", 443}}}},
      .is_there = [](const std::string& path) { return path.find("/new") == std::string::npos; }};
}

Suggestions suggested(const Lesson& from) {
  auto found = suggest(from);
  EXPECT_TRUE(found) << found.error().text();
  return found ? *std::move(found) : Suggestions{};
}

// "+ net a:443 low risk"
std::vector<std::string> lines(const Suggestions& found) {
  std::vector<std::string> all;
  all.reserve(found.all.size());
  for (const Suggestion& one : found.all) {
    all.push_back(std::string{to_char(one.sign)} + ' ' + one.kind + ' ' + one.what + ' ' +
                  std::to_string(one.uses) + ' ' + one.risk);
  }
  return all;
}
using Lines = std::vector<std::string>;

TEST(Suggest, OpensTheNetworkForTheHostsThatWereWanted) {
  const auto found = suggested(lesson({looked_up("registry.example", 3), looked_up("a.example"),
                                       connected("a.example:443", 2), connected("a.example:22")}));
  EXPECT_EQ(lines(found),
            (Lines{"+ net registry.example:443 3 low risk", "+ net a.example:443 3 medium risk",
                   "+ net a.example:22 1 high risk"}));
  EXPECT_EQ(found.refusals, 7U);
  const Policy policy = policy_from(found.text);
  EXPECT_TRUE(policy.decide(NetQuery{"a.example", 443}).allowed());
  EXPECT_TRUE(policy.decide(NetQuery{"a.example", 22}).allowed());
  EXPECT_FALSE(policy.decide(NetQuery{"b.a.example", 443}).allowed()) << found.text;
  EXPECT_EQ(found.text,
            "version = 1\nextends = [\"strict\"]\n\n[network]\n"
            "egress_allowlist = [\"registry.example:443\", \"a.example:443\", "
            "{ host = \"a.example\", port = 22, protocol = \"tcp\", why = \"suggested\" }]\n"
            "mode = \"restricted\"\n");
}

TEST(Suggest, NeverNamesTunnelsNorSecretsNorAddresses) {
  const auto found =
      suggested(lesson({looked_up("x1.ngrok.app", 2),
                        looked_up("a-b.trycloudflare.com"),
                        connected("webhook.site:443"),
                        connected("93.184.216.34:443"),
                        connected("10.1.2.3:5432"),
                        connected("host.cordon.internal:5432"),
                        looked_up("metadata.google.internal"),
                        path_denial("READ", "/home/ada/.config/gh/hosts.yml"),
                        path_denial("READ", "/srv/shop/.env"),
                        path_denial("WRITE", "/home/ada/.ssh/config"),
                        {.code = "CORDON-NET-SECRET", .tried = "POST a.example:443/x"},
                        {.code = "CORDON-SYSCALL", .tried = "mount by sh", .fix = "compat"}}));
  EXPECT_EQ(lines(found),
            (Lines{"+ net no host yet 1 low risk",  //
                   "? net 93.184.216.34:443 1 address", "? net 10.1.2.3:5432 1 address",
                   "? net host.cordon.internal:5432 1 this machine",
                   "? read ~/.config/gh/hosts.yml 1 SECRET", "? read /srv/shop/.env 1 SECRET",
                   "? write ~/.ssh/config 1 SECRET", "? net POST a.example:443/x 1 SECRET",
                   "? other mount by sh 1 by hand", "! net x1.ngrok.app:443 2 tunnel",
                   "! net a-b.trycloudflare.com:443 1 tunnel", "! net webhook.site:443 1 collector",
                   "! net metadata.google.internal:443 1 metadata"}));
  EXPECT_FALSE(policy_from(found.text).decide(NetQuery{"x1.ngrok.app", 443}).allowed());
}

TEST(Suggest, MountsWhatWasRefusedAndNoMore) {
  const auto found = suggested(
      lesson({path_denial("WRITE", "/srv/cache/one"), path_denial("READ", "/srv/docs/api"),
              path_denial("WRITE", "/home/ada/.cargo/registry/index", 4)}));
  EXPECT_EQ(lines(found),
            (Lines{"+ write /srv/cache/one 1 medium risk", "+ read /srv/docs/api 1 medium risk",
                   "+ write ~/.cargo/registry/index 4 low risk", "+ net no host yet 1 low risk"}));
  const Policy policy = policy_from(found.text);
  const auto allows = [&](Access access, std::string_view path) {
    return policy.decide(PathQuery{access, path, "/srv/shop"}).allowed();
  };
  EXPECT_TRUE(allows(Access::write, "/srv/cache/one"));
  EXPECT_FALSE(allows(Access::write, "/srv/cache/two"));
  EXPECT_TRUE(allows(Access::read, "/srv/docs/api"));
  EXPECT_FALSE(allows(Access::write, "/srv/docs/api"));
}

TEST(Suggest, TakesThreeFilesOfADirectoryAsTheDirectory) {
  const auto of = [](const std::string& directory, int files) {
    std::vector<Denial> all;
    all.reserve(static_cast<std::size_t>(files));
    for (int i = 0; i < files; ++i) {
      all.push_back(path_denial("WRITE", directory + "/f" + std::to_string(i)));
    }
    auto text = std::string{"version = 1\n"};
    return lines(suggested(lesson(std::move(all), text)));
  };
  EXPECT_EQ(of("/srv/cache/x", 3).front(), "+ write /srv/cache/x 3 medium risk");
  EXPECT_EQ(of("/srv/cache/x", 2).front(), "+ write /srv/cache/x/f0 1 medium risk");
  for (const std::string wide :
       {"/srv", "/home/ada", "/home/bob", "/var/lib", "/home/ada/.config"}) {
    EXPECT_EQ(of(wide, 3).size(), 4U) << wide;  // each by itself, and the network
  }
}

TEST(Suggest, LeavesToAPersonWhatIsTooWideOrTheirOwnRule) {
  const auto found = suggested(
      lesson({path_denial("WRITE", "/data"), path_denial("WRITE", "/home/ada"),
              path_denial("WRITE", "/home/ada/.config"), path_denial("WRITE", "/usr/lib/x"),
              path_denial("WRITE", "/srv/new/x"), path_denial("WRITE", "/srv/shop/Makefile"),
              connected("bad.example:443")},
             "version = 1\n[filesystem]\nprotect = [\"Makefile\"]\n[network]\nmode = \"public\"\n"
             "egress_denylist = [\"bad.example\"]\n"));
  for (const Suggestion& one : found.all) {
    EXPECT_EQ(one.sign, Sign::left) << one.what;
    EXPECT_NE(one.word, "") << one.what;
    EXPECT_TRUE(one.changes.empty()) << one.what;
  }
  EXPECT_EQ(found.all.size(), 7U);
}

TEST(Suggest, WidensARuleOfTheDocumentWhereItStands) {
  const auto found = suggested(
      lesson({requested("POST api.example:443/issues"), requested("GET api.example:443/users")},
             "version = 1\n[network]\negress_allowlist = [\n"
             "  { host = \"api.example\", methods = [\"GET\"], paths = [\"/issues\"] }, # mine\n"
             "]\n"));
  EXPECT_EQ(lines(found), (Lines{"+ net POST api.example:443/issues 1 medium risk",
                                 "+ net GET api.example:443/users 1 medium risk"}));
  EXPECT_NE(
      found.text.find("methods = [\"GET\", \"POST\"], paths = [\"/issues\", \"/users\"] }, # mine"),
      std::string::npos)
      << found.text;
}

TEST(Suggest, MakesAWorkspaceWritable) {
  const auto found =
      suggested(lesson({path_denial("WRITE", "/srv/shop/a"), path_denial("WRITE", "/srv/shop/b")},
                       "version = 1\nextends = [\"mcp-server\"]\n"));
  EXPECT_EQ(found.all.front().changes.front().key, "filesystem.mode");
  EXPECT_TRUE(policy_from(found.text)
                  .decide(PathQuery{Access::write, "/srv/shop/b", "/srv/shop"})
                  .allowed());
}

TEST(Suggest, RaisesTheLimitThatEndedTheRun) {
  Lesson one = lesson({});
  one.verdict = Verdict{.ending = Ending::memory, .status = 137, .limit = 512ULL << 20U};
  auto found = suggested(one);
  EXPECT_EQ(lines(found), (Lines{"+ limit resources.memory_limit 1 low risk"}));
  EXPECT_EQ(policy_from(found.text).settings().limits.memory, 1ULL << 30U);
  one.verdict = Verdict{.ending = Ending::disk, .status = 1, .limit = 256ULL << 20U};
  found = suggested(one);
  EXPECT_EQ(policy_from(found.text).settings().limits.disk, 512ULL << 20U);
  EXPECT_EQ(policy_from(found.text).settings().limits.memory, 1ULL << 30U) << "it is in memory";
  one.text = "version = 1\n[resources]\ndisk_limit = \"4Gi\"\n";
  EXPECT_TRUE(suggested(one).all.empty()) << "it was raised since";
}

TEST(Suggest, SaysThatNothingIsMissing) {
  Lesson one = lesson({connected("a.example:443", 5)},
                      "version = 1\n[network]\negress_allowlist = [\"a.example\"]\n");
  const auto found = suggested(one);
  EXPECT_TRUE(found.all.empty());
  EXPECT_EQ(found.already, 5U);
  EXPECT_EQ(found.text, one.text);
  one.text = "version = 2\n";
  EXPECT_FALSE(suggest(one));
}

TEST(LearnTables, KnowSecretsAndWaysOut) {
  for (const std::string_view path :
       {"/home/a/.ssh", "/home/a/.ssh/id_rsa", "/x/.env", "/x/.env.local", "/x/server.pem",
        "/home/b/.config/gcloud/x", "/etc/shadow", "/home/a/.cargo/credentials.toml"}) {
    EXPECT_TRUE(is_secret_path(path)) << path;
  }
  for (const std::string_view path :
       {"/", "/home/a/.cargo/registry", "/x/environment", "/x/keys"}) {
    EXPECT_FALSE(is_secret_path(path)) << path;
  }
  EXPECT_TRUE(may_hold_secrets("/home/a/.config"));
  EXPECT_TRUE(may_hold_secrets("/home/a/.docker"));
  EXPECT_FALSE(may_hold_secrets("/home/a/.cache"));
  EXPECT_TRUE(kind_of_way_out("ngrok.io"));
  EXPECT_FALSE(kind_of_way_out("notngrok.io"));
  EXPECT_FALSE(kind_of_way_out("ngrok.io.example"));
}

}  // namespace
}  // namespace cordon::policy
