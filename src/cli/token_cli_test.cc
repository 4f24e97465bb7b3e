// SPDX-License-Identifier: Apache-2.0
// The token verbs as a person types them: output, exit codes, JSON.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "cli/ran_test.h"
#include "cli/token_verbs.h"
#include "cli/verbs.h"
#include "token/token.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;

// A directory of its own, gone at the end, which is where its files are named.
class TokenVerbs : public ::testing::Test {
 protected:
  TokenVerbs() {
    std::string made = (std::filesystem::temp_directory_path() / "cordon-token-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    directory_ = made;
    EXPECT_EQ(cordon({"token", "key", path("root.key")}).exit, 0);
    EXPECT_EQ(cordon({"token", "key", path("node.key"), "--from", path("root.key"), "--audience",
                      "node-a"})
                  .exit,
              0);
  }
  ~TokenVerbs() override {
    if (directory_.filename().string().starts_with("cordon-token-"))
      std::filesystem::remove_all(directory_);
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name)} << text;
  }

  Ran cordon(const std::vector<std::string>& words, const std::string& input = "") const {
    std::ostringstream out;
    std::ostringstream err;
    Context context{.out = out,
                    .err = err,
                    .environment = [&](const std::string& name) -> std::optional<std::string> {
                      const auto found = environment_.find(name);
                      return found == environment_.end() ? std::nullopt
                                                         : std::optional{found->second};
                    }};
    std::vector<const char*> argv = {"cordon"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::istringstream typed{input};
    std::streambuf* const before = std::cin.rdbuf(typed.rdbuf());
    const int exit = run(static_cast<int>(argv.size()), argv.data(), context);
    std::cin.rdbuf(before);
    std::cin.clear();
    return {exit, out.str(), err.str()};
  }

  Ran mint(std::vector<std::string> more, bool is_tenants = true) const {
    std::vector<std::string> words = {"token", "mint", "--key", path("node.key")};
    if (is_tenants) words.insert(words.end(), {"--tenant", "acme"});
    words.insert(words.end(), more.begin(), more.end());
    return cordon(words);
  }

  std::map<std::string, std::string> environment_;

 private:
  std::filesystem::path directory_;
};

TEST_F(TokenVerbs, AKeyIsMadeForItsOwnerOnlyAndNeverWrittenOver) {
  const auto rights = std::filesystem::status(path("root.key")).permissions();
  EXPECT_EQ(rights, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const Ran again = cordon({"token", "key", path("root.key")});
  EXPECT_EQ(again.exit, 1);
  EXPECT_EQ(again.err,
            "cordon: " + path("root.key") + ": it exists; a key is never written over\n");
}

TEST_F(TokenVerbs, AKeyThatOthersCanReadIsRefused) {
  std::filesystem::permissions(path("node.key"), std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  const Ran ran = mint({});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.err.find("chmod 600 " + path("node.key")), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("cordon token key FILE"), std::string::npos) << ran.err;
}

TEST_F(TokenVerbs, AMissingKeyAndAFileThatIsNoneAreTold) {
  const Ran missing = cordon({"token", "mint", "--key", path("none"), "--tenant", "acme"});
  EXPECT_EQ(missing.exit, 4);
  EXPECT_NE(missing.err.find("cordon token key " + path("none") + " makes a new key"),
            std::string::npos);
  write("text", "not a key, but a secret\n");
  std::filesystem::permissions(path("text"), std::filesystem::perms::owner_read);
  const Ran wrong = cordon({"token", "mint", "--key", path("text"), "--tenant", "acme"});
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_EQ(wrong.err.find("secret"), std::string::npos) << "nothing of the file is told";
}

TEST_F(TokenVerbs, AMintedTokenSaysWhatItIsFor) {
  const Ran minted = mint({"--operation", "file.read", "--operation", "file.write", "--sandbox",
                           "bbbb", "--sandbox", "aaaa", "--path", "/workspace", "--budget",
                           "processes=5", "--expires", "1h"});
  ASSERT_EQ(minted.exit, 0) << minted.err;
  EXPECT_EQ(minted.out, minted.token() + "\n");
  const Ran read = cordon({"token", "inspect", "--json"}, minted.out);
  ASSERT_EQ(read.exit, 0) << read.err;
  const json::value told = json::parse(read.out);
  EXPECT_EQ(told.at("audience").as_string(), "node-a");
  EXPECT_FALSE(told.at("operator").as_bool());
  EXPECT_FALSE(told.at("verified").as_bool());
  const json::array expected =
      json::parse(R"([{"tenant":"acme"},{"operation":["file.read","file.write"]},
                      {"sandbox":["aaaa","bbbb"]},{"path":"/workspace"},
                      {"budget":{"processes":5}}])")
          .as_array();
  json::array caveats = told.at("caveats").as_array();
  ASSERT_EQ(caveats.size(), 6U);
  EXPECT_TRUE(caveats.back().as_object().contains("expires"));
  caveats.pop_back();
  EXPECT_EQ(caveats, expected);
}

TEST_F(TokenVerbs, InspectNeverPrintsTheTagAndSaysThatItDidNotVerify) {
  const std::string text = mint({}).token();
  const Ran ran = cordon({"token", "inspect"}, text);
  EXPECT_EQ(ran.exit, 0);
  EXPECT_NE(ran.out.find("verified   no: anyone can write such a text; --key FILE verifies it\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("tenant     acme\n"), std::string::npos);
  EXPECT_NE(ran.out.find(" UTC, in 24 h\n"), std::string::npos) << "the default";
  EXPECT_EQ(ran.out.find(text.substr(text.size() - 20)), std::string::npos);
  const Ran verified = cordon({"token", "inspect", "--key", path("node.key")}, text);
  EXPECT_EQ(verified.exit, 0) << verified.err;
  EXPECT_NE(verified.out.find("verified   yes"), std::string::npos) << verified.out;
  EXPECT_EQ(cordon({"token", "inspect", "--key", path("root.key")}, text).exit, 0);
}

TEST_F(TokenVerbs, InspectWithAKeyRefusesWhatTheKeyDidNotMake) {
  std::string text = mint({}).token();
  char& in_tag = text[text.size() - 10];
  in_tag = in_tag == 'A' ? 'B' : 'A';
  const Ran ran = cordon({"token", "inspect", "--key", path("node.key")}, text);
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "cordon: this token is worth nothing: forged or changed\n");
  EXPECT_EQ(cordon({"token", "inspect"}, "cdn1_nonsense").exit, 1);
}

TEST_F(TokenVerbs, ATokenIsNarrowedWithoutAKey) {
  const std::string text = mint({}).token();
  const Ran narrower = cordon({"token", "attenuate", "--operation", "file.read"}, text + "\n");
  ASSERT_EQ(narrower.exit, 0) << narrower.err;
  const Ran read =
      cordon({"token", "inspect", "--json", "--key", path("node.key")}, narrower.token());
  ASSERT_EQ(read.exit, 0) << read.err;
  EXPECT_EQ(json::parse(read.out).at("caveats").as_array().size(), 3U);
  EXPECT_EQ(cordon({"token", "attenuate"}, text).exit, 2) << "nothing to narrow";
  EXPECT_EQ(cordon({"token", "attenuate", "--expires", "never"}, text).exit, 2);
  EXPECT_EQ(cordon({"token", "attenuate", "--operator", "--tenant", "x"}, text).exit, 2);
  EXPECT_EQ(cordon({"token", "attenuate", "--tenant", "x"}, "nonsense").exit, 1);
}

TEST_F(TokenVerbs, ATokenComesFromAFileAVariableOrStandardInput) {
  const std::string in_file = mint({"--path", "/file"}).token();
  const std::string in_variable = mint({"--path", "/variable"}).token();
  const std::string typed = mint({"--path", "/typed"}).token();
  write("token", in_file + "\n");
  const auto path_of = [&](const Ran& ran) {
    return std::string{json::parse(ran.out).at("caveats").at(1).at("path").as_string()};
  };
  EXPECT_EQ(path_of(cordon({"token", "inspect", "--json"}, typed)), "/typed");
  environment_["CORDON_TOKEN"] = in_variable;
  EXPECT_EQ(path_of(cordon({"token", "inspect", "--json"}, typed)), "/variable");
  EXPECT_EQ(path_of(cordon({"token", "inspect", "--json", "--token-file", path("token")}, typed)),
            "/file");
  EXPECT_EQ(cordon({"token", "inspect", "--token-file", path("none")}).exit, 4);
}

// C220: arguments are seen by every user of the machine.
TEST_F(TokenVerbs, ATokenAsAnArgumentIsRefusedAndNotRepeated) {
  const std::string text = mint({}).token();
  for (const std::string verb : {"inspect", "attenuate"}) {
    const Ran ran = cordon({"token", verb, text});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_EQ(ran.err.find(text), std::string::npos);
    EXPECT_NE(ran.err.find("a token is no argument"), std::string::npos) << ran.err;
  }
}

TEST_F(TokenVerbs, OnlyAnOperatorsTokenIsForAllTenantsOrForEver) {
  EXPECT_EQ(mint({}, false).exit, 2);
  EXPECT_EQ(mint({"--expires", "never"}).exit, 2);
  const Ran ran = mint({"--operator", "--expires", "never", "--json"}, false);
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const json::value told = json::parse(ran.out);
  const auto contents = token::read(std::string{told.at("token").as_string()});
  ASSERT_TRUE(contents);
  EXPECT_TRUE(contents->is_operator);
  EXPECT_TRUE(contents->caveats.empty());
}

TEST_F(TokenVerbs, ANodesKeyMakesTokensForNoOther) {
  const Ran ran = mint({"--audience", "node-b"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.err.find("this is the key of node-a"), std::string::npos) << ran.err;
  EXPECT_EQ(
      cordon({"token", "key", path("x.key"), "--from", path("node.key"), "--audience", "b"}).exit,
      1);
  EXPECT_FALSE(std::filesystem::exists(path("x.key")));
  const Ran rooted = cordon(
      {"token", "mint", "--key", path("root.key"), "--tenant", "acme", "--audience", "node-b"});
  EXPECT_EQ(rooted.exit, 0) << rooted.err;
  EXPECT_EQ(cordon({"token", "inspect", "--key", path("node.key")}, rooted.token()).exit, 1);
}

// C205
TEST_F(TokenVerbs, WhatMakesNoSenseIsAWrongCommandLine) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--operation", "file"},
                                             {"--operation", "file.read", "file.write"},
                                             {"--budget", "sandboxes"},
                                             {"--budget", "sandboxes=-1"},
                                             {"--budget", "sandboxes=1e3"},
                                             {"--budget", "sandboxes=18446744073709551616"},
                                             {"--budget", "sandboxes="},
                                             {"--budget", "beds=3"},
                                             {"--path", "workspace"},
                                             {"--path", "/a/../b"},
                                             {"--sandbox", "../x"},
                                             {"--expires", "0"},
                                             {"--expires", "18446744073709551615d"}}) {
    const Ran ran = mint(bad);
    EXPECT_EQ(ran.exit, 2) << bad[1] << ran.err;
    EXPECT_EQ(ran.out, "") << bad[1];
  }
  EXPECT_EQ(mint({"--tenant", "b"}).exit, 2) << "two tenants";
}

TEST_F(TokenVerbs, ACeilingIsAPolicyThatARequestCouldState) {
  write("p.toml",
        "# room is scarce\n[network]\negress_allowlist = [\"a.example\", { host = \"b.example\", "
        "methods = [\"GET\"] }]\n");
  const Ran ran = mint({"--ceiling", path("p.toml")});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const auto contents = token::read(ran.token());
  ASSERT_TRUE(contents);
  EXPECT_EQ(
      std::get<token::PolicyCeiling>(contents->caveats.back()).json,
      R"({"network":{"egress_allowlist":["a.example",{"host":"b.example","methods":["GET"]}]}})");
  write("p.toml", "[filesystem]\nhost_mounts = [{ source = \"/etc\", target = \"/x\" }]\n");
  const Ran refused = mint({"--ceiling", path("p.toml")});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_NE(refused.err.find("p.toml:2"), std::string::npos) << refused.err;
  EXPECT_EQ(mint({"--ceiling", path("none.toml")}).exit, 4);
}

TEST(TokenWords, TellTimesAsAPersonWould) {
  using std::chrono::seconds;
  using std::chrono::sys_seconds;
  const sys_seconds now{seconds{1'800'000'000}};
  EXPECT_EQ(date_words(now), "2027-01-15 08:00:00 UTC");
  EXPECT_EQ(date_words(token::kLastTime), "9999-12-31 23:59:59 UTC");
  EXPECT_EQ(date_words(sys_seconds{}), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(distance_words(now, now), "now");
  EXPECT_EQ(distance_words(now + seconds{90}, now), "in 90 s");
  EXPECT_EQ(distance_words(now + seconds{600}, now), "in 10 min");
  EXPECT_EQ(distance_words(now + seconds{86400}, now), "in 24 h");
  EXPECT_EQ(distance_words(now + seconds{86395}, now), "in 24 h");
  EXPECT_EQ(distance_words(now - seconds{86400 * 3}, now), "3 days ago");
}

}  // namespace
}  // namespace cordon::cli
