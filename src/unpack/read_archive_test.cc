// SPDX-License-Identifier: Apache-2.0
// Archives of strangers: what is taken, and what each trick is refused as.
#include "unpack/read_archive.h"

#include <gtest/gtest.h>

#include "unpack/made_archive_test.h"
#include "unpack/names.h"

namespace cordon::unpack {
namespace {

using frame::ArchiveData;
using frame::ArchiveEnd;
using frame::ArchiveEntry;
using frame::ArchiveType;

TEST(ReadArchive, TakesFilesDirectoriesAndLinks) {
  const ReadBack got = read_back(tar_of({{.name = "./", .type = '5'},
                                         {.name = "d/", .type = '5'},
                                         {.name = "./d//f", .data = "text"},
                                         {.name = "d/h", .type = '1', .target = "d/f"},
                                         {.name = "d/l", .type = '2', .target = "/usr/bin"}}));
  EXPECT_EQ(got.refused, "") << got.why;
  EXPECT_TRUE(got.ended);
  ASSERT_EQ(got.entries.size(), 5U);
  EXPECT_EQ(got.entries[0].path, ".");
  EXPECT_EQ(got.entries[1].type, ArchiveType::directory);
  EXPECT_EQ(got.entries[2].path, "d/f");
  EXPECT_EQ(got.entries[2].size, 4U);
  EXPECT_EQ(got.entries[2].mode, 0644U);
  EXPECT_EQ(got.entries[2].modified, 1'000'000'000'000'000'000U);
  EXPECT_EQ(got.data[2], "text");
  EXPECT_EQ(got.entries[3].type, ArchiveType::hard_link);
  EXPECT_EQ(got.entries[3].target, "d/f");
  EXPECT_EQ(got.entries[4].target, "/usr/bin");
}

TEST(ReadArchive, TakesNamesThatAreNotAscii) {
  if (!use_utf8_names()) GTEST_SKIP() << "no locale C.UTF-8";
  const std::string pax = "12 path=d\xc3\xa4\n";
  const ReadBack got = read_back(tar_of(
      {{.name = "PaxHeaders/x", .type = 'x', .data = pax}, {.name = "d"}, {.name = "old-\xe4"}}));
  EXPECT_EQ(got.refused, "") << got.why;
  ASSERT_EQ(got.entries.size(), 2U);
  EXPECT_EQ(got.entries[0].path, "d\xc3\xa4");
  EXPECT_EQ(got.entries[1].path, "old-\xe4");
}

struct Trick {
  const char* name;
  std::vector<MadeEntry> entries;
  const char* code;
};

// Each beside it the same without the trick.
TEST(ReadArchive, RefusesTricks) {
  const std::vector<Trick> tricks = {
      {"absolute", {{.name = "/etc/passwd"}}, "unsafe_path"},
      {"up", {{.name = "../f"}}, "unsafe_path"},
      {"up within", {{.name = "a/../../f"}}, "unsafe_path"},
      {"up at the end", {{.name = "a/..", .type = '5'}}, "unsafe_path"},
      {"no name", {{.name = ""}}, "unsafe_path"},
      {"the top as a file",
       {{.name = "./"}, {.name = ".", .type = '2', .target = "/"}},
       "unsafe_path"},
      {"control", {{.name = "a\x1b[2J"}}, "unsafe_path"},
      {"through a link",
       {{.name = "l", .type = '2', .target = "/etc"}, {.name = "l/passwd"}},
       "unsafe_link"},
      {"through a deep link",
       {{.name = "a/l", .type = '2', .target = ".."}, {.name = "a/./l//b/c"}},
       "unsafe_link"},
      {"a directory over a link",
       {{.name = "l", .type = '2', .target = "/etc"}, {.name = "l/", .type = '5'}},
       "unsafe_link"},
      {"hard link outside", {{.name = "h", .type = '1', .target = "/etc/shadow"}}, "unsafe_path"},
      {"hard link up", {{.name = "h", .type = '1', .target = "../x"}}, "unsafe_path"},
      {"hard link to nothing", {{.name = "h", .type = '1', .target = "x"}}, "unsafe_link"},
      {"hard link to a link",
       {{.name = "l", .type = '2', .target = "/etc/shadow"},
        {.name = "h", .type = '1', .target = "l"}},
       "unsafe_link"},
      {"link to nothing", {{.name = "l", .type = '2'}}, "unsafe_link"},
      {"twice", {{.name = "a"}, {.name = "./a"}}, "duplicate"},
      {"a link over a file",
       {{.name = "a"}, {.name = "a", .type = '2', .target = "x"}},
       "duplicate"},
      {"a file over a link",
       {{.name = "a", .type = '2', .target = "x"}, {.name = "a"}},
       "duplicate"},
      {"a file over a directory", {{.name = "a", .type = '5'}, {.name = "a"}}, "duplicate"},
      {"a directory over a file", {{.name = "a"}, {.name = "a/", .type = '5'}}, "duplicate"},
      {"a hard link to itself",
       {{.name = "a"}, {.name = "a", .type = '1', .target = "a"}},
       "duplicate"},
      {"character device", {{.name = "c", .type = '3'}}, "unsafe_type"},
      {"block device", {{.name = "b", .type = '4'}}, "unsafe_type"},
      {"fifo", {{.name = "p", .type = '6'}}, "unsafe_type"},
  };
  for (const Trick& trick : tricks) {
    const ReadBack got = read_back(tar_of(trick.entries));
    EXPECT_EQ(got.refused, trick.code) << trick.name << ": " << got.why;
    EXPECT_FALSE(got.ended) << trick.name;
    std::string at{trick.entries.back().name};
    std::ranges::replace(at, '\x1b', '?');
    EXPECT_EQ(got.at, at) << trick.name;
  }
  // Without the tricks the same is taken.
  const ReadBack fine = read_back(tar_of({{.name = "etc/passwd"},
                                          {.name = "l", .type = '2', .target = "/etc"},
                                          {.name = "ll/passwd"},
                                          {.name = "h", .type = '1', .target = "etc/passwd"}}));
  EXPECT_EQ(fine.refused, "") << fine.why;
  EXPECT_EQ(fine.entries.size(), 4U);
  EXPECT_EQ(read_back(tar_of({{.name = "d", .type = '5'}, {.name = "d/", .type = '5'}})).refused,
            "")
      << "a directory may be named again";
}

TEST(ReadArchive, KeepsItsBounds) {
  const std::vector<MadeEntry> two = {{.name = "a", .data = "12345678"},
                                      {.name = "b", .data = "12345678"}};
  EXPECT_EQ(read_back(tar_of(two), {.entries = 2}).refused, "");
  EXPECT_EQ(read_back(tar_of(two), {.entries = 1}).refused, "too_many_entries");
  EXPECT_EQ(read_back(tar_of(two), {.bytes = 16}).refused, "");
  EXPECT_EQ(read_back(tar_of(two), {.bytes = 15}).refused, "too_large");
  EXPECT_EQ(read_back(tar_of({{.name = "abcd/efgh"}}), {.name = 8}).refused, "too_long_name");
  EXPECT_EQ(read_back(tar_of({{.name = "abcd/efgh"}}), {.component = 3}).refused, "too_long_name");
  EXPECT_EQ(read_back(tar_of({{.name = "abcd"}, {.name = "ef"}}), {.names = 5}).refused,
            "too_long_name");
  EXPECT_EQ(read_back(tar_of({{.name = "abcd"}, {.name = "ef"}}), {.names = 6}).refused, "");
  EXPECT_EQ(read_back(tar_of({{.name = "a/b/c"}}), {.depth = 2}).refused, "too_long_name");
  EXPECT_EQ(read_back(tar_of({{.name = "a/b/c"}}), {.depth = 3}).refused, "");
  // A size that nothing stands behind.
  EXPECT_EQ(read_back(tar_of({{.name = "a", .size = (1ULL << 33U) - 1}})).refused, "too_large");
}

TEST(ReadArchive, RefusesWhatIsCutShortOrNone) {
  const std::string whole = tar_of({{.name = "a", .data = std::string(2000, 'x')}});
  EXPECT_EQ(read_back(std::string_view{whole}.substr(0, 1000)).refused, "malformed");
  EXPECT_EQ(read_back("this is no archive, whatever its name says").refused, "malformed");
}

std::vector<frame::ToArchive> zeros(std::size_t size) {
  std::vector<frame::ToArchive> frames{ArchiveEntry{.path = "zeros", .mode = 0644, .size = size}};
  for (std::size_t at = 0; at < size; at += frame::kMostArchiveData) {
    frames.emplace_back(
        ArchiveData{.offset = at, .bytes = std::string(frame::kMostArchiveData, 0)});
  }
  frames.emplace_back(ArchiveEnd{});
  return frames;
}

TEST(ReadArchive, StopsBombs) {
  constexpr std::size_t kSize = std::size_t{16} << 20U;
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    const auto bomb = written(zeros(kSize), packing);
    ASSERT_TRUE(bomb) << bomb.error().text();
    ASSERT_LT(bomb->size(), kSize / 500);
    const ReadBack got = read_back(*bomb, {.free_bytes = 1U << 20U});
    EXPECT_EQ(got.refused, "too_dense") << got.why;
    ASSERT_LE(got.data.size(), 1U);
    if (!got.data.empty()) EXPECT_LT(got.data[0].size(), kSize / 2);
    // The counter-arm: whoever allows it gets it.
    EXPECT_EQ(read_back(*bomb, {.ratio = 1'000'000}).refused, "");
  }
}

TEST(ReadArchive, IsNotNested) {
  const auto once = written(zeros(frame::kMostArchiveData), Packing::gzip);
  ASSERT_TRUE(once);
  // A gzip in a gzip: made by hand as a stored block.
  std::string twice{"\x1f\x8b\x08\0\0\0\0\0\0\x03", 10};
  ASSERT_LT(once->size(), 65536U);
  const auto size = static_cast<std::uint16_t>(once->size());
  twice += '\x01';
  twice += static_cast<char>(size & 0xFFU);
  twice += static_cast<char>(size >> 8U);
  twice += static_cast<char>(~size & 0xFFU);
  twice += static_cast<char>((static_cast<unsigned>(~size) >> 8U) & 0xFFU);
  twice += *once;
  twice += std::string(8, '\0');
  EXPECT_EQ(read_back(*once).refused, "");
  EXPECT_EQ(read_back(twice).refused, "malformed");
}

TEST(WriteArchive, WritesWhatIsReadBack) {
  for (const Packing packing : {Packing::none, Packing::gzip, Packing::zstd}) {
    const std::string name = "d/" + std::string(200, 'n') + "-\xc3\xa4";
    const auto made = written(
        {ArchiveEntry{.path = "d", .type = ArchiveType::directory, .mode = 0755},
         ArchiveEntry{.path = name, .mode = 0640, .size = 10, .modified = 5'000'000'001},
         ArchiveData{.offset = 2, .bytes = "ab"}, ArchiveData{.offset = 6, .bytes = "cd"},
         ArchiveEntry{.path = "l", .type = ArchiveType::link, .target = "../x"},
         ArchiveEntry{.path = "h", .type = ArchiveType::hard_link, .target = name}, ArchiveEnd{}},
        packing);
    ASSERT_TRUE(made) << made.error().text();
    const ReadBack got = read_back(*made);
    EXPECT_EQ(got.refused, "") << got.why;
    ASSERT_EQ(got.entries.size(), 4U);
    EXPECT_EQ(got.entries[1].path, name);
    EXPECT_EQ(got.entries[1].mode, 0640U);
    EXPECT_EQ(got.data[1], std::string("\0\0ab\0\0cd\0\0", 10));
    EXPECT_EQ(got.entries[2].target, "../x");
    EXPECT_EQ(got.entries[3].target, name);
  }
}

TEST(WriteArchive, RefusesWhatWouldLeadItsReaderAstray) {
  const auto fails = [](std::vector<frame::ToArchive> frames) {
    return !written(std::move(frames));
  };
  EXPECT_FALSE(fails({ArchiveEntry{.path = "f\n", .size = 0}, ArchiveEnd{}}));
  EXPECT_TRUE(fails({ArchiveEntry{.path = "../f"}, ArchiveEnd{}}));
  EXPECT_TRUE(fails({ArchiveEntry{.path = "/f"}, ArchiveEnd{}}));
  EXPECT_TRUE(fails({ArchiveEntry{.path = "l", .type = ArchiveType::link, .target = "/"},
                     ArchiveEntry{.path = "l/f"}, ArchiveEnd{}}));
  EXPECT_TRUE(fails({ArchiveEntry{.path = "f", .size = 1}, ArchiveData{.offset = 0, .bytes = "xx"},
                     ArchiveEnd{}}));
  EXPECT_TRUE(fails({ArchiveEntry{.path = "f", .size = 1}, ArchiveData{.offset = 2, .bytes = "x"},
                     ArchiveEnd{}}));
  EXPECT_TRUE(fails({ArchiveEntry{.path = "f"}})) << "no end";
}

}  // namespace
}  // namespace cordon::unpack
