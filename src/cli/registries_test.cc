// SPDX-License-Identifier: Apache-2.0
#include "cli/registries.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

namespace cordon::cli {
namespace {

using Hosts = std::vector<policy::RegistryHost>;

TEST(Registries, AreReadFromTheKeysOfEachTool) {
  EXPECT_EQ(
      hosts_in_config(
          "@npm",
          "registry=https://npm.corp.example/api/\n@acme:registry = https://acme.example:8443/\n"),
      (Hosts{{"npm.corp.example", 443}, {"acme.example", 8443}}));
  EXPECT_EQ(hosts_in_config("@pip",
                            "[global]\nindex-url = https://u:p@PIP.corp.example/simple\n# "
                            "index-url = https://x.example\n"),
            (Hosts{{"pip.corp.example", 443}}));
  EXPECT_EQ(hosts_in_config("@apt",
                            "deb [signed-by=/k] http://deb.corp.example/debian stable "
                            "main\ndeb-src http://src.example/ x\n"),
            (Hosts{{"deb.corp.example", 80}}));
  EXPECT_EQ(hosts_in_config("@apt", "Types: deb\nURIs: https://a.example/d https://b.example/d\n"),
            (Hosts{{"a.example", 443}, {"b.example", 443}}));
  EXPECT_EQ(
      hosts_in_config("@cargo",
                      "[source.mine]\nregistry = \"sparse+https://cargo.corp.example/index/\"\n"),
      (Hosts{{"cargo.corp.example", 443}}));
}

TEST(Registries, IgnoreWhatIsNoUrlOfTheTool) {
  EXPECT_TRUE(
      hosts_in_config("@npm",
                      "proxy=https://proxy.example\nregistry=file:///srv/npm\nregistry=https://\n")
          .empty());
  EXPECT_TRUE(hosts_in_config("@npm", "registry=https://x.example:99999/\n").empty());
}

TEST(Registries, ComeFromTheHomeAndTheSystemAndNeverFromTheCurrentDirectory) {
  const auto top = std::filesystem::temp_directory_path() / "cordon-registries-test";
  std::filesystem::remove_all(top);
  std::filesystem::create_directories(top / "home");
  std::filesystem::create_directories(top / "work");
  std::filesystem::create_directories(top / "system/etc");
  std::ofstream{top / "home/.npmrc"} << "registry=https://home.example/\n";
  std::ofstream{top / "system/etc/pip.conf"} << "index-url = https://system.example/\n";
  std::ofstream{top / "work/.npmrc"} << "registry=https://evil.example/\n";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(top / "work");
  std::ostringstream out;
  std::map<std::string, std::string> environment = {{"HOME", (top / "home").string()}};
  const Context context{.out = out,
                        .err = out,
                        .environment = [&](const std::string& name) -> std::optional<std::string> {
                          const auto found = environment.find(name);
                          return found == environment.end() ? std::nullopt
                                                            : std::optional{found->second};
                        }};
  const auto from_files =
      look_up_registries(context, (top / "work").string(), (top / "system/").string());
  environment["NPM_CONFIG_REGISTRY"] = "https://mine.example/";
  const auto with_variable =
      look_up_registries(context, (top / "work").string(), (top / "system/").string());
  environment.erase("NPM_CONFIG_REGISTRY");
  const auto at_home = look_up_registries(context, top.string(), (top / "system/").string());
  std::filesystem::current_path(before);
  std::filesystem::remove_all(top);
  EXPECT_TRUE(at_home.empty())
      << "where the workspace is the home or above it, its files are the agent's to write";
  EXPECT_EQ(from_files.at("@npm"), (Hosts{{"home.example", 443}}));
  EXPECT_EQ(from_files.at("@pip"), (Hosts{{"system.example", 443}}));
  EXPECT_FALSE(from_files.contains("@cargo"));
  EXPECT_EQ(with_variable.at("@npm"), (Hosts{{"mine.example", 443}}));
}

}  // namespace
}  // namespace cordon::cli
