// SPDX-License-Identifier: Apache-2.0
// The policy verbs as a person types them: output, exit codes, JSON.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "cli/ran_test.h"
#include "cli/verbs.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

// A directory of its own, gone at the end, with a home in it.
class PolicyVerbs : public ::testing::Test {
 protected:
  PolicyVerbs() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::temp_directory_path() /
                 ("cordon-cli-" + std::string{test->name()} +
                  std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                  std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(directory_);
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(directory_);
  }
  ~PolicyVerbs() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(directory_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream{directory_ / name} << text;
  }

  Ran cordon(std::vector<const char*> words) const {
    std::ostringstream out;
    std::ostringstream err;
    const std::map<std::string, std::string> environment = {
        {"HOME", (directory_ / "home").string()}};
    Context context{.out = out,
                    .err = err,
                    .environment = [&](const std::string& name) -> std::optional<std::string> {
                      const auto found = environment.find(name);
                      return found == environment.end() ? std::nullopt
                                                        : std::optional{found->second};
                    }};
    words.insert(words.begin(), "cordon");
    const int exit = run(static_cast<int>(words.size()), words.data(), context);
    return {exit, out.str(), err.str()};
  }

 private:
  std::filesystem::path directory_;
  std::filesystem::path before_;
};

TEST_F(PolicyVerbs, CheckTellsEveryProblemWithItsPlace) {
  write("p.toml", "[network]\negress_alowlist = []\n[filesystem]\nmode = \"rw\"\n");
  const Ran ran = cordon({"policy", "check", "p.toml"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "cordon: p.toml:2:1: unknown key `egress_alowlist` in [network]; did you mean "
            "`egress_allowlist`?\n"
            "cordon: p.toml:4:8: `mode`: `rw` is not known; allowed: read_only or read_write; did "
            "you mean `read_write`?\n");
}

TEST_F(PolicyVerbs, CheckAsJsonIsOneObject) {
  write("p.json", R"({"isolaton": "gvisor"})");
  const Ran bad = cordon({"policy", "check", "p.json", "--json"});
  EXPECT_EQ(bad.exit, 1);
  const json::value told = json::parse(bad.out);
  EXPECT_FALSE(told.at("ok").as_bool());
  EXPECT_EQ(told.at("problems").at(0).at("line").as_int64(), 1);
  EXPECT_EQ(told.at("problems").at(0).at("column").as_int64(), 2);
  write("p.json", R"({"isolation": "gvisor"})");
  const Ran good = cordon({"policy", "check", "p.json", "--json"});
  EXPECT_EQ(good.exit, 0);
  EXPECT_TRUE(json::parse(good.out).at("ok").as_bool());
}

TEST_F(PolicyVerbs, AMissingFileIsNotFound) {
  const Ran ran = cordon({"policy", "check", "absent.toml"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_EQ(ran.err, "cordon: absent.toml: no such file\n");
}

TEST_F(PolicyVerbs, AWrongCommandLineIsUsage) {
  EXPECT_EQ(cordon({"policy", "check"}).exit, 2);
  EXPECT_EQ(cordon({"policy", "chek", "x"}).exit, 2);
  EXPECT_EQ(cordon({"policy", "check", "x", "--origin", "root"}).exit, 2);
  write("p.toml", "");
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "smell", "/x"}).exit, 2);
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "net", "a.example:x"}).exit, 2);
}

TEST_F(PolicyVerbs, WhyExitsByTheDecision) {
  write("p.toml", "[network]\nask = true\negress_allowlist = [\"a.example\"]\n");
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "net", "a.example"}).exit, 0);
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "net", "b.example"}).exit, 3);
  const Ran denied = cordon({"policy", "why", "p.toml", "read", "/srv/x"});
  EXPECT_EQ(denied.exit, 1);
  EXPECT_TRUE(denied.out.starts_with("DENIED   default  /srv/x does not exist inside"))
      << denied.out;
}

TEST_F(PolicyVerbs, WhyTakesTheCurrentDirectoryForTheWorkspace) {
  write("p.toml", "[filesystem]\nprotect = [\"locked\"]\n");
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "write", "notes.txt"}).exit, 0);
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "write", "locked/x"}).exit, 1);
  // The directory of the test is below /tmp, which every sandbox may write: only the workspace's
  // own rule refuses.
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "write", "locked/x", "--origin", "request"}).exit, 0)
      << "a request's workspace is never a directory of this machine";
  EXPECT_EQ(cordon({"policy", "why", "p.toml", "write", "/w/notes.txt", "--workspace", "/w"}).exit,
            0);
}

TEST_F(PolicyVerbs, WhyAsJsonNamesRuleReasonAndChange) {
  write("p.toml",
        "[network]\negress_allowlist = [{ host = \"a.example\", methods = [\"GET\"] }]\n");
  const json::value told = json::parse(
      cordon({"policy", "why", "p.toml", "net", "a.example", "POST", "/x", "--json"}).out);
  EXPECT_EQ(told.at("effect").as_string(), "deny");
  EXPECT_EQ(told.at("rule").as_string(), "p.toml:2");
  EXPECT_EQ(told.at("why").as_string(), "a.example allows GET only");
  EXPECT_EQ(told.at("changes").at(0).at("edit").as_string(), "add");
}

TEST_F(PolicyVerbs, ShowListsPrintsAndRefusesPresets) {
  EXPECT_NE(cordon({"policy", "show"}).out.find("coding-agent"), std::string::npos);
  EXPECT_TRUE(cordon({"policy", "show", "strict"}).out.starts_with("# "));
  EXPECT_EQ(cordon({"policy", "show", "strickt"}).exit, 4);
}

TEST_F(PolicyVerbs, WhatShowPrintsIsAValidPolicy) {
  write("copy.toml", cordon({"policy", "show", "claude"}).out);
  const Ran ran = cordon({"policy", "check", "copy.toml"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
}

// C287: files of the repository can only narrow, whatever they are called and whatever they say.
TEST_F(PolicyVerbs, TheEffectivePolicyIsNarrowedByTheWorkspaceAndNeverWidened) {
  write("home/.config/cordon/policy.toml",
        "[network]\negress_allowlist = [\"a.example\", \"b.example\"]\n");
  const auto hosts = [&] {
    const json::value told = json::parse(cordon({"policy", "show", "--effective", "--json"}).out);
    return told.at("documents").as_array().size();
  };
  EXPECT_EQ(hosts(), 1U);
  write(".sandbox.json", R"({"network":{"mode":"public"}})");
  write(".env", "CORDON_POLICY=off\n");
  EXPECT_EQ(hosts(), 1U) << "no other file of the workspace is read";
  write("cordon.toml", "[network]\negress_allowlist = [\"b.example\", \"c.example\"]\n");
  EXPECT_EQ(hosts(), 2U);
  write("cordon.toml", "[filesystem]\nhost_mounts = [{ source = \"/etc\", target = \"/host\" }]\n");
  const Ran ran = cordon({"policy", "show", "--effective"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.err.find("a workspace file may only narrow"), std::string::npos) << ran.err;
}

TEST_F(PolicyVerbs, TestsPassAndFailByWhatThePolicyDecides) {
  write("p.toml", "[network]\negress_allowlist = [\"a.example\"]\n");
  write("p.test.toml",
        "allow = [\"net a.example\"]\ndeny = [\"net b.example\", \"read /srv/x\"]\n");
  const Ran good = cordon({"policy", "test", "p.toml"});
  EXPECT_EQ(good.exit, 0);
  EXPECT_EQ(good.out, "p.test.toml: 3 passed, 0 failed\n");
  write("p.test.toml",
        "deny = [\"net a.example\"]\nallow = [\"tool github/create {\\\"a\\\": 1}\"]\n");
  const Ran bad = cordon({"policy", "test", "p.toml"});
  EXPECT_EQ(bad.exit, 1);
  EXPECT_EQ(bad.out,
            "FAILED p.test.toml:1  net a.example: expected deny, got allow: p.toml:2  "
            "a.example:443 is in "
            "egress_allowlist\n"
            "FAILED p.test.toml:2  tool github/create {\"a\": 1}: expected allow, got deny: "
            "default  there is no "
            "[tools.github]: no tool of that server may be called\n"
            "p.test.toml: 0 passed, 2 failed\n");
}

TEST_F(PolicyVerbs, ATestThatAsksNothingIsRefused) {
  write("p.toml", "");
  write("p.test.toml", "allow = []\n");
  EXPECT_EQ(cordon({"policy", "test", "p.toml"}).exit, 1);
  write("p.test.toml", "alow = [\"net a.example\"]\n");
  EXPECT_EQ(cordon({"policy", "test", "p.toml"}).exit, 1);
}

TEST_F(PolicyVerbs, AnUnreadableQuestionFailsItsTest) {
  write("p.toml", "");
  write("p.test.toml", "deny = [\"reed /x\"]\n");
  EXPECT_EQ(cordon({"policy", "test", "p.toml"}).exit, 1);
}

}  // namespace
}  // namespace cordon::cli
