// SPDX-License-Identifier: Apache-2.0
#include "launcher/secret_files.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/positioned_file.h"
#include "os/test_support.h"

namespace cordon::launcher {
namespace {

namespace fs = std::filesystem;

using Key = std::array<std::byte, 32>;

Key key_of(const SecretFiles& files) {
  Key key{};
  EXPECT_TRUE(os::read_at(files.key, 0, key));
  return key;
}

TEST(SecretFiles, AreMadeOnceForEachTenant) {
  const os::TempDir dir;
  const auto acme = open_secret_files(dir.fd(), "acme");
  const auto again = open_secret_files(dir.fd(), "acme");
  const auto other = open_secret_files(dir.fd(), "other");
  ASSERT_TRUE(acme && again && other);
  EXPECT_EQ(key_of(*acme), key_of(*again));
  EXPECT_NE(key_of(*acme), key_of(*other));
  EXPECT_NE(key_of(*acme), Key{});
  for (const char* name : {"acme.key", "acme.store", "other.key", "other.store"}) {
    struct stat status{};
    ASSERT_EQ(::stat((dir.path() / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 07777U, 0600U) << name;
  }
  EXPECT_FALSE(fs::exists(dir.path() / "acme.key.new"));
  // The key is there to be read.
  EXPECT_LT(::write(acme->key.get(), "x", 1), 0);
}

TEST(SecretFiles, OfOthersAreNotOpened) {
  for (const char* name : {"acme.key", "acme.store"}) {
    const os::TempDir dir;
    std::ofstream{dir.path() / "elsewhere"} << std::string(32, 'x');
    fs::create_symlink("elsewhere", dir.path() / name);
    EXPECT_FALSE(open_secret_files(dir.fd(), "acme")) << name << " is a link";
    fs::remove(dir.path() / name);
    fs::rename(dir.path() / "elsewhere", dir.path() / name);
    ASSERT_EQ(::chmod((dir.path() / name).c_str(), 0644), 0);
    const auto opened = open_secret_files(dir.fd(), "acme");
    ASSERT_FALSE(opened) << name << " can be read by others";
    EXPECT_EQ(opened.error().code(), Errc::denied);
    ASSERT_EQ(::chmod((dir.path() / name).c_str(), 0600), 0);
    EXPECT_TRUE(open_secret_files(dir.fd(), "acme")) << name;
  }
}

TEST(SecretFiles, AreForTenantsOfOurAlphabetOnly) {
  const os::TempDir dir;
  for (const char* tenant : {"", "..", "../x", "a/b", "a.b", "A"}) {
    EXPECT_FALSE(open_secret_files(dir.fd(), tenant)) << tenant;
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

}  // namespace
}  // namespace cordon::launcher
