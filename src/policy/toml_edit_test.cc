// SPDX-License-Identifier: Apache-2.0
#include "policy/toml_edit.h"

#include <gtest/gtest.h>

#include "policy/policy_text_test.h"

namespace cordon::policy {
namespace {

Change adding(std::string value, std::string key = "network.egress_allowlist",
              std::string at = {}) {
  return {Edit::add, "cordon.toml", std::move(key), std::move(value), std::move(at)};
}
Change setting(std::string key, std::string value, std::string at = {}) {
  return {Edit::set, "cordon.toml", std::move(key), std::move(value), std::move(at)};
}

std::string made(std::string_view text, const Change& change) {
  const auto done = edited(text, change);
  return done ? *done : "error: " + done.error().text();
}

struct Case {
  std::string_view what;
  std::string_view before;
  Change change;
  std::string_view after;
};

TEST(TomlEdit, ChangesOneThingAndLeavesTheRest) {
  const std::string b = "\"b:443\"";
  const Case cases[] = {
      {"a list in one line", "[network]\negress_allowlist = [\"a\"] # here\n", adding(b),
       "[network]\negress_allowlist = [\"a\", \"b:443\"] # here\n"},
      {"a comma at its end", "[network]\negress_allowlist = [\"a\", ]\n", adding(b),
       "[network]\negress_allowlist = [\"a\", \"b:443\", ]\n"},
      {"an empty list", "[network]\negress_allowlist = [ ]\n", adding(b),
       "[network]\negress_allowlist = [\"b:443\" ]\n"},
      {"a list of lines", "[network]\negress_allowlist = [\n  \"a\", # why ]\n  'c#', # end\n]\n",
       adding(b),
       "[network]\negress_allowlist = [\n  \"a\", # why ]\n  'c#', # end\n  \"b:443\",\n]\n"},
      {"of lines, without a last comma", "[network]\negress_allowlist = [\n  \"a\" # why\n]\n",
       adding(b), "[network]\negress_allowlist = [\n  \"a\", # why\n  \"b:443\",\n]\n"},
      {"that closes in its last line",
       "[network]\negress_allowlist = [\n  \"a\",\n  { host = \"c\" } ]\n", adding(b),
       "[network]\negress_allowlist = [\n  \"a\",\n  { host = \"c\" },\n  \"b:443\" ]\n"},
      {"a list that is not there", "[network] # n\nmode = \"none\"\n", adding(b),
       "[network] # n\negress_allowlist = [\"b:443\"]\nmode = \"none\"\n"},
      {"a section that is not there", "# mine\nversion = 1", adding(b),
       "# mine\nversion = 1\n\n[network]\negress_allowlist = [\"b:443\"]\n"},
      {"an inline table", "network = { mode = \"none\" }\n", adding(b),
       "network = { mode = \"none\", egress_allowlist = [\"b:443\"] }\n"},
      {"an empty inline table", "network = {}\n", adding(b),
       "network = { egress_allowlist = [\"b:443\"] }\n"},
      {"keys with dots", "# x\nnetwork.mode = \"none\"\n", adding(b),
       "# x\nnetwork.egress_allowlist = [\"b:443\"]\nnetwork.mode = \"none\"\n"},
      {"a value", "[network]\nmode = \"none\" # off\n", setting("network.mode", "\"restricted\""),
       "[network]\nmode = \"restricted\" # off\n"},
      {"a number", "[resources]\npids_limit = 12\n", setting("resources.pids_limit", "24"),
       "[resources]\npids_limit = 24\n"},
      {"a value behind characters of more bytes",
       "network = { egress_allowlist = [{ host = \"a\", why = \"ä…\" }], mode = \"none\" }\n",
       setting("network.mode", "\"restricted\""),
       "network = { egress_allowlist = [{ host = \"a\", why = \"ä…\" }], mode = \"restricted\" "
       "}\n"},
      {"a list of a rule",
       "[network]\negress_allowlist = [\n  { host = \"a\", methods = [\"GET\"] },\n]\n",
       adding("\"POST\"", "network.egress_allowlist[].methods", "cordon.toml:3"),
       "[network]\negress_allowlist = [\n  { host = \"a\", methods = [\"GET\", \"POST\"] },\n]\n"},
      {"a key that a rule does not have", "[filesystem]\nhost_mounts = [{ source = \"/a\" }]\n",
       setting("filesystem.host_mounts[].mode", "\"read_write\"", "cordon.toml:2"),
       "[filesystem]\nhost_mounts = [{ source = \"/a\", mode = \"read_write\" }]\n"},
      {"a rule that is a table", "[[filesystem.host_mounts]]\nsource = \"/a\"\n",
       setting("filesystem.host_mounts[].mode", "\"read_write\"", "cordon.toml:1"),
       "[[filesystem.host_mounts]]\nmode = \"read_write\"\nsource = \"/a\"\n"},
      {"beside texts that look like brackets",
       "[network]\negress_allowlist = [ { host = \"a\", why = '''x ] ''' }, \"b\\\"]\" ]\n",
       adding("\"c\""),
       "[network]\negress_allowlist = [ { host = \"a\", why = '''x ] ''' }, \"b\\\"]\", \"c\" ]\n"},
  };
  for (const Case& one : cases) EXPECT_EQ(made(one.before, one.change), one.after) << one.what;
}

TEST(TomlEdit, LeavesToAPersonWhatItCannotTell) {
  const auto refused = [](std::string_view text, const Change& change) {
    const auto done = edited(text, change);
    return !done && done.error().code() == Errc::invalid;
  };
  EXPECT_TRUE(refused("[network\n", adding("\"a\""))) << "no TOML";
  EXPECT_TRUE(refused("[[network.egress_allowlist]]\nhost = \"a\"\n", adding("\"b\"")));
  EXPECT_TRUE(refused("[[network.egress_allowlist]]\nhost = \"a\"\n",
                      setting("network.mode", "\"restricted\"")));
  EXPECT_TRUE(refused("[network]\negress_allowlist = \"a\"\n", adding("\"b\"")));
  EXPECT_TRUE(refused("[network]\negress_allowlist = [{ host = \"a\" }, { host = \"b\" }]\n",
                      adding("\"GET\"", "network.egress_allowlist[].methods", "cordon.toml:2")));
  EXPECT_TRUE(refused("[network]\negress_allowlist = [\"a\"]\n",
                      adding("\"GET\"", "network.egress_allowlist[].methods", "cordon.toml:2")));
  EXPECT_TRUE(refused("version = 1\n", {Edit::remove, "cordon.toml", "filesystem.hide", "x", "y"}));
  EXPECT_TRUE(refused("version = 1\n", setting("version", "2"))) << "no key of a section";
}

}  // namespace
}  // namespace cordon::policy
