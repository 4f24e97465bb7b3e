// SPDX-License-Identifier: Apache-2.0
// Names of servers, and configurations of clients with their servers wrapped.
#include <gtest/gtest.h>

#include "cli/mcp_import.h"
#include "cli/mcp_name.h"
#include "cli/run_options.h"

namespace cordon::cli {
namespace {

TEST(ServerName, IsWhatThePackageIsCalled) {
  const std::pair<std::vector<std::string>, std::string_view> table[] = {
      {{"npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "."}, "filesystem"},
      {{"uvx", "mcp-server-time"}, "time"},
      {{"uv", "run", "time-mcp-server"}, "time"},
      {{"/usr/bin/node", "/opt/x/index.js"}, "index"},
      {{"python3", "-u", "weather.py", "--fast"}, "weather"},
      {{"/opt/github-mcp-server/bin/github-mcp-server", "stdio"}, "github"},
      {{"./my server!"}, "my-server-"},
      {{"npx"}, "npx"},
      {{"/"}, "server"},
  };
  for (const auto& [command, name] : table) {
    EXPECT_EQ(server_name_of(command), name);
    EXPECT_TRUE(is_server_name(server_name_of(command)));
  }
}

ImportOptions plain(std::vector<std::string> more = {}) {
  ImportOptions options{.flags = {"cordon", "mcp", "wrap"}};
  options.flags.insert(options.flags.end(), more.begin(), more.end());
  return options;
}

TEST(Import, ChangesNothingButCommandAndArguments) {
  const auto done = wrap_servers(
      "{ \"a\" : [ 1.50 ],\n\t\"servers\": {\"x y\": {\"args\":[\"\\u0031\"] , \"command\":\"c\"} "
      "}}\n",
      plain({"--policy", "p.toml"}), "/bin/cordon");
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->text,
            "{ \"a\" : [ 1.50 ],\n\t\"servers\": {\"x y\": {\"args\":[\"mcp\", \"wrap\", "
            "\"--policy\", \"p.toml\", \"--name\", \"x-y\", \"--\", \"c\", \"1\"] , "
            "\"command\":\"/bin/cordon\"} }}\n");
}

TEST(Import, FindsServersOfEveryKindOfClient) {
  for (const std::string_view text :
       {R"({"mcpServers":{"a":{"command":"c"}}})", R"({"servers":{"a":{"command":"c"}}})",
        R"({"mcp":{"servers":{"a":{"command":"c"}}}})",
        R"({"projects":{"/p":{"mcpServers":{"a":{"command":"c"}}}}})"}) {
    const auto done = wrap_servers(text, plain(), "cordon");
    ASSERT_TRUE(done) << text;
    ASSERT_EQ(done->servers.size(), 1U) << text;
    EXPECT_EQ(done->servers[0].done, "wrapped") << text;
    const auto again = wrap_servers(done->text, plain(), "cordon");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->text, done->text) << "once is enough";
    EXPECT_EQ(again->servers[0].done, "wrapped already");
  }
  // Of somebody else's table of that name nothing is taken.
  EXPECT_TRUE(
      wrap_servers(R"({"x":{"servers":{"a":{"command":"c"}}}})", plain(), "c")->servers.empty());
}

TEST(Import, LeavesWhatItCannotWrapAndRefusesWhatItCannotRead) {
  const auto done = wrap_servers(
      R"({"mcpServers":{"u":{"url":"https://x"},"n":{},"b":{"command":"c","args":[1]}}})", plain(),
      "cordon");
  ASSERT_TRUE(done);
  for (const ImportedServer& server : done->servers)
    EXPECT_TRUE(server.done.starts_with("left: ")) << server.name;
  EXPECT_FALSE(wrap_servers("{} // x", plain(), "cordon"));
  EXPECT_FALSE(wrap_servers(R"({"mcpServers":{"a":{}, "a":{}}})", plain(), "cordon"));
}

TEST(WrapFlags, AreRulesOfThePolicy) {
  RunOptions options;
  options.tool_server = "fs";
  options.allow_tools = {"read_*"};
  options.ask_tools = {"write\"file"};
  options.deny_tools = {"delete_*"};
  const auto text = policy_of_flags(options, "/");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("[tools.fs]\nallow = [\"read_*\"]\ndeny = [\"delete_*\"]\n"
                       "[[tools.fs.rules]]\ntool = \"write\\\"file\"\neffect = \"ask\"\n"),
            std::string::npos)
      << *text;
}

}  // namespace
}  // namespace cordon::cli
