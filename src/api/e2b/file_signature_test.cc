// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/file_signature.h"

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr sys_seconds kNow{seconds{1'800'000'000}};

TEST(FileSignature, IsWhatClientsMakeOfIt) {
  EXPECT_EQ(signature_of({.path = "/x"}, "tok"), "v1_cDPVRURWZ3Rlu0uOZWs/Y2/Y0ixV3iG8T7qE5B8Nxd0");
  EXPECT_EQ(signature_of({.path = "/home/user/a b.txt",
                          .user = "root",
                          .use = FileUse::write,
                          .expires = 1'900'000'000},
                         "tok"),
            "v1_XrdlstWX7M1to+t1AYAT4XOIuajP5gy9JBVof5+47Kc");
}

TEST(FileSignature, IsForOneFileOneUserOneUseAndOneToken) {
  const SignedFile file{.path = "/x", .user = "user", .use = FileUse::read, .expires = {}};
  const std::string signature = signature_of(file, "tok");
  EXPECT_TRUE(is_signed(file, "tok", signature, kNow));
  EXPECT_FALSE(is_signed(file, "other", signature, kNow));
  EXPECT_FALSE(is_signed(file, "tok", "", kNow));
  EXPECT_FALSE(is_signed(file, "tok", signature.substr(3), kNow));
  EXPECT_FALSE(is_signed(file, "tok", signature + "A", kNow));
  EXPECT_FALSE(is_signed(file, "tok", signature.substr(0, signature.size() - 1), kNow));
  SignedFile other = file;
  other.path = "/y";
  EXPECT_FALSE(is_signed(other, "tok", signature, kNow));
  other = file;
  other.use = FileUse::write;
  EXPECT_FALSE(is_signed(other, "tok", signature, kNow));
  other = file;
  other.user = "root";
  EXPECT_FALSE(is_signed(other, "tok", signature, kNow));
  other = file;
  other.expires = kNow.time_since_epoch().count() + 10;
  EXPECT_FALSE(is_signed(other, "tok", signature, kNow)) << "a time that was not signed";
}

TEST(FileSignature, EndsWithItsTime) {
  const SignedFile file{.path = "/x", .user = {}, .use = FileUse::read, .expires = 1'800'000'000};
  const std::string signature = signature_of(file, "tok");
  EXPECT_TRUE(is_signed(file, "tok", signature, kNow));
  EXPECT_FALSE(is_signed(file, "tok", signature, kNow + seconds{1}));
}

}  // namespace
}  // namespace cordon::api::e2b
