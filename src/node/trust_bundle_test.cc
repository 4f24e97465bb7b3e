// SPDX-License-Identifier: Apache-2.0
#include "node/trust_bundle.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::node {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kCertificate =
    "-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----\n";

TEST(TrustBundle, EndsWithTheSandboxesOwnAuthorityAndGoesWithIt) {
  const os::TempDir state;
  std::string path;
  {
    const auto bundle =
        TrustBundle::write(state.path(), *SandboxId::parse("abcd2345"), kCertificate);
    ASSERT_TRUE(bundle) << bundle.error().text();
    path = bundle->path();
    std::ifstream file{path};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_TRUE(text.ends_with(kCertificate));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TrustBundle, RemovesThoseThatKilledRunsHaveLeft) {
  const os::TempDir state;
  const fs::path directory = state.path() / "authorities";
  ASSERT_TRUE(fs::create_directory(directory));
  for (const char* name : {"old.pem", "young.pem", "old.txt"})
    std::ofstream{directory / name} << "x";
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(directory / "old.pem", now - 26h);
  fs::last_write_time(directory / "old.txt", now - 26h);
  fs::last_write_time(directory / "young.pem", now - 23h);
  const auto bundle = TrustBundle::write(state.path(), *SandboxId::parse("abcd2345"), kCertificate);
  ASSERT_TRUE(bundle) << bundle.error().text();
  EXPECT_FALSE(fs::exists(directory / "old.pem"));
  EXPECT_TRUE(fs::exists(directory / "young.pem"));
  EXPECT_TRUE(fs::exists(directory / "old.txt"));
}

}  // namespace
}  // namespace cordon::node
