// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/file_entry.h"

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

TEST(E2bFileEntry, HasPermissionsInLetters) {
  EXPECT_EQ(permission_letters(frame::FileType::file, 0644), "-rw-r--r--");
  EXPECT_EQ(permission_letters(frame::FileType::directory, 0755), "drwxr-xr-x");
  EXPECT_EQ(permission_letters(frame::FileType::link, 0777), "Lrwxrwxrwx");
  EXPECT_EQ(permission_letters(frame::FileType::file, 0), "----------");
}

TEST(E2bFileEntry, IsToldWhole) {
  const NamedEntry named{.path = "/home/user/a",
                         .entry = {.name = "a",
                                   .type = frame::FileType::file,
                                   .size = 5,
                                   .mode = 0100644,
                                   .modified = 1'794'696'678'889'123'456,
                                   .user = 1000,
                                   .group = 7},
                         .pointed = {}};
  EXPECT_EQ(
      entry_json(named),
      R"({"entry":{"name":"a","type":"FILE_TYPE_FILE","path":"/home/user/a","size":"5","mode":420,)"
      R"("permissions":"-rw-r--r--","owner":"user","group":"7","modifiedTime":"2026-11-14T22:51:18.889Z"}})");
}

TEST(E2bFileEntry, OfALinkIsWhatItLeadsTo) {
  NamedEntry named{.path = "/l",
                   .entry = {.name = "l", .type = frame::FileType::link, .target = "d"},
                   .pointed = frame::FileEntry{.type = frame::FileType::directory, .mode = 0700}};
  EXPECT_NE(entry_json(named).find(R"("type":"FILE_TYPE_DIRECTORY")"), std::string::npos);
  EXPECT_NE(entry_json(named).find(R"("symlinkTarget":"d")"), std::string::npos);
  // One that leads nowhere has no type.
  named.pointed.reset();
  EXPECT_EQ(entry_json(named).find("FILE_TYPE"), std::string::npos);
}

}  // namespace
}  // namespace cordon::api::e2b
