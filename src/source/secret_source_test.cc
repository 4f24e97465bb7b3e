// SPDX-License-Identifier: Apache-2.0
// Secrets are read whole and within bounds, and no error shows one.
#include "source/secret_source.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdlib.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "frame/broker.h"

namespace cordon::source {
namespace {

using policy::SecretSource;
using std::chrono::milliseconds;

class SecretSourceTest : public testing::Test {
 protected:
  SecretSourceTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cordon-secret-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) directory_ = name;
  }
  ~SecretSourceTest() override {
    std::error_code ignored;
    for (const auto& file : made_) std::filesystem::remove(file, ignored);
    std::filesystem::remove(directory_, ignored);
  }

  std::string file(const std::string& name, std::string_view text) {
    made_.push_back(directory_ / name);
    std::ofstream{made_.back(), std::ios::binary} << text;
    return made_.back().string();
  }

  // The value, or "CODE: TEXT".
  std::string read(SecretSource source, const std::string& from,
                   milliseconds limit = milliseconds{5000}) {
    const Surroundings surroundings{
        .variable = [this](const std::string& name) -> std::optional<std::string> {
          const auto found = variables_.find(name);
          if (found == variables_.end()) return std::nullopt;
          return found->second;
        },
        .environment =
            [this] {
              std::vector<std::string> all;
              all.reserve(variables_.size());
              for (const auto& [name, value] : variables_) {
                all.push_back(std::string{name}.append("=").append(value));
              }
              return all;
            }};
    const auto secret = read_secret(source, from, surroundings, limit);
    if (secret) return std::string{as_text(*secret)};
    return std::string{to_string(secret.error().code())} + ": " + secret.error().text();
  }

  std::filesystem::path directory_;
  std::vector<std::filesystem::path> made_;
  std::map<std::string, std::string> variables_{{"PATH", "/usr/bin:/bin"}};
};

TEST_F(SecretSourceTest, ReadsAVariable) {
  variables_["TOKEN"] = "tuesday";
  EXPECT_EQ(read(SecretSource::env, "TOKEN"), "tuesday");
  EXPECT_EQ(read(SecretSource::env, "NONE"), "not_found: env:NONE: the variable is not set");
}

TEST_F(SecretSourceTest, ReadsAFileByItsWholePathOrBelowHome) {
  const std::string path = file("token", "tuesday\n");
  EXPECT_EQ(read(SecretSource::file, path), "tuesday");
  variables_["HOME"] = directory_.string();
  EXPECT_EQ(read(SecretSource::file, "~/token"), "tuesday");
  EXPECT_EQ(read(SecretSource::file, "token").substr(0, 8), "invalid:");
  EXPECT_EQ(read(SecretSource::file, directory_.string() + "/none").substr(0, 10), "not_found:");
  EXPECT_EQ(read(SecretSource::file, directory_.string()).substr(0, 8), "invalid:");
  // Nobody is waited for at the other end.
  made_.push_back(directory_ / "pipe");
  ASSERT_EQ(::mkfifo(made_.back().c_str(), 0600), 0);
  EXPECT_EQ(read(SecretSource::file, made_.back().string()).substr(0, 8), "invalid:");
}

TEST_F(SecretSourceTest, ReadsWhatACommandPrints) {
  variables_["PART"] = "day";
  EXPECT_EQ(read(SecretSource::cmd, "echo \"tues$PART\""), "tuesday");
  EXPECT_EQ(read(SecretSource::cmd, "printf tues; printf day"), "tuesday");
  EXPECT_EQ(read(SecretSource::cmd, "cat; echo tuesday"), "tuesday") << "its input is empty";
}

TEST_F(SecretSourceTest, RefusesACommandThatFailsWithoutShowingIt) {
  const std::string failed = read(SecretSource::cmd, "echo sentinel; exit 3");
  EXPECT_EQ(failed, "unavailable: cmd:: the command ended with status 3");
  EXPECT_EQ(read(SecretSource::cmd, "echo sentinel; kill -9 $$"),
            "unavailable: cmd:: the command ended with signal 9");
  EXPECT_EQ(read(SecretSource::cmd, "true"), "invalid: cmd:: it is empty");
}

TEST_F(SecretSourceTest, WaitsForACommandSoLongAndNoLonger) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read(SecretSource::cmd, "echo sentinel; sleep 5", milliseconds{200}),
            "timeout: cmd:: not done in time");
  EXPECT_EQ(read(SecretSource::cmd, "echo sentinel; exec >&-; sleep 5", milliseconds{200}),
            "timeout: cmd:: not done in time");
  EXPECT_EQ(read(SecretSource::cmd, "sleep 0.05; echo tuesday"), "tuesday");
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds{4000});
  EXPECT_EQ(kCommandLimit, std::chrono::seconds{10});
}

TEST_F(SecretSourceTest, TakesOffOneLineEndAndRefusesOthers) {
  const auto value = [&](std::string_view text) {
    return read(SecretSource::file, file("v", text));
  };
  EXPECT_EQ(value("tuesday"), "tuesday");
  EXPECT_EQ(value("tuesday\r\n"), "tuesday");
  EXPECT_EQ(value(" tues\tday "), " tues\tday ");
  for (const std::string_view bad :
       {std::string_view{""}, std::string_view{"\n"}, std::string_view{"sentinel\n\n"},
        std::string_view{"sentinel\r"}, std::string_view{"senti\nnel"},
        std::string_view{"senti\0nel", 9}, std::string_view{"sentinel\x7f"},
        std::string_view{"sentinel\x1b[0m"}}) {
    const std::string refused = value(bad);
    EXPECT_TRUE(refused.starts_with("invalid: ")) << refused;
    EXPECT_EQ(refused.find("senti"), std::string::npos) << refused;
  }
}

TEST_F(SecretSourceTest, ReadsSixtyFourKibibytesAndNoMore) {
  const std::string most(frame::kLongestSecret, 'x');
  EXPECT_EQ(read(SecretSource::file, file("most", most + "\n")), most);
  for (const std::string_view more : {"x", "x\n", "xxxxxxxxxxxxxxxx"}) {
    const std::string path = file("more", most + std::string{more});
    const std::string refused = "invalid: file:" + path + ": longer than 64 KiB";
    EXPECT_EQ(read(SecretSource::file, path), refused);
    const auto shown = read(SecretSource::cmd, "cat " + path);
    EXPECT_EQ(shown, "invalid: cmd:: longer than 64 KiB");
  }
  variables_["LONG"] = most + "xxxxxxxx";
  EXPECT_EQ(read(SecretSource::env, "LONG"), "invalid: env:LONG: longer than 64 KiB");
}

TEST_F(SecretSourceTest, HasNoStoreOfItsOwn) {
  EXPECT_TRUE(read(SecretSource::secret, "x").starts_with("unavailable: "));
}

}  // namespace
}  // namespace cordon::source
