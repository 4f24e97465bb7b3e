// SPDX-License-Identifier: Apache-2.0
#include "launcher/pins.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::launcher {
namespace {

// Of "engine".
constexpr const char* kDigest =
    "sha256:ed9f6f25068608efd412958da4dfc19328ca3511251fa6d5f9c42baf230e32f8";

class PinnedFile : public ::testing::Test {
 protected:
  void SetUp() override { put("engine"); }
  std::string path() const { return dir_.path() / "engine"; }
  void put(std::string_view content) const {
    std::ofstream{path(), std::ios::trunc} << content;
    std::filesystem::permissions(path(), std::filesystem::perms{0755});
  }
  static std::string said(Pins& pins, const std::string& path) {
    const auto opened = pins.open(path, O_PATH);
    return opened ? "opened" : opened.error().text();
  }
  os::TempDir dir_;
};

TEST_F(PinnedFile, IsOpenedAsItWasPinned) {
  Pins pins{{{path(), kDigest}}};
  EXPECT_EQ(said(pins, path()), "opened");
  EXPECT_EQ(said(pins, path()), "opened");
}

TEST_F(PinnedFile, IsRefusedWithAnythingElseInIt) {
  Pins pins{{{path(), kDigest}}};
  put("enginf");
  const auto refused = pins.open(path(), O_PATH);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::denied);
  EXPECT_NE(refused.error().text().find("it was changed"), std::string::npos);
}

TEST_F(PinnedFile, IsRefusedOnceItWasTouched) {
  Pins pins{{{path(), kDigest}}};
  ASSERT_EQ(said(pins, path()), "opened");
  const auto before = std::filesystem::last_write_time(path());
  put("enginf");
  // Who changes what is in it can also set its time; not when its inode was changed.
  std::filesystem::last_write_time(path(), before);
  EXPECT_NE(said(pins, path()), "opened");
  put("engine");
  EXPECT_EQ(said(pins, path()), "opened");
}

TEST_F(PinnedFile, IsRefusedAsAnotherFileOfItsName) {
  Pins pins{{{path(), kDigest}}};
  ASSERT_EQ(said(pins, path()), "opened");
  std::filesystem::rename(path(), path() + ".old");
  put("enginf");
  EXPECT_NE(said(pins, path()), "opened");
}

TEST_F(PinnedFile, ThatIsNotPinnedIsOpenedWhateverIsInIt) {
  Pins pins;
  put("enginf");
  EXPECT_EQ(said(pins, path()), "opened");
}

}  // namespace
}  // namespace cordon::launcher
