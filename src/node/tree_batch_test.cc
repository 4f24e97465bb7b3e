// SPDX-License-Identifier: Apache-2.0
// How entries become acts: few, within their bounds, and the same tree in the end.
#include "node/tree_batch.h"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

using frame::ArchiveData;
using frame::ArchiveEntry;
using frame::ArchiveType;
using frame::TreePiece;

// What acts would leave behind: each file, its mode last.
struct Made {
  std::map<std::string, std::string> files;
  std::map<std::string, std::uint32_t> modes;
  std::size_t acts = 0;

  void take(const frame::WriteTree& act) {
    ++acts;
    EXPECT_LE(act.pieces.size(), frame::kMostTreePieces);
    EXPECT_LE(act.bytes.size(), frame::kMostTreeBytes);
    std::string_view left{act.bytes};
    for (const TreePiece& piece : act.pieces) {
      ASSERT_LE(piece.count, left.size());
      if (piece.entry.type == ArchiveType::file) {
        std::string& file = files[piece.entry.path];
        const bool is_locked = (modes[piece.entry.path] & 0200U) == 0;
        if (piece.offset == 0) file.assign(piece.entry.size, '\0');
        EXPECT_TRUE(piece.offset == 0 || piece.count == 0 || !is_locked) << piece.entry.path;
        if (piece.count > 0) {
          file.resize(std::max<std::size_t>(file.size(), piece.offset + piece.count));
          file.replace(piece.offset, piece.count, left.substr(0, piece.count));
        }
      }
      modes[piece.entry.path] = piece.entry.mode;
      left.remove_prefix(piece.count);
    }
    EXPECT_TRUE(left.empty());
  }
};

class Batches : public testing::Test {
 protected:
  void take(ArchiveEntry entry) {
    batch_.take(std::move(entry));
    flush();
  }
  void take(std::uint64_t offset, std::string bytes) {
    ASSERT_TRUE(batch_.take(ArchiveData{.offset = offset, .bytes = std::move(bytes)}));
    flush();
  }
  void flush() {
    if (batch_.is_full()) made_.take(batch_.cut());
  }
  void end() {
    batch_.end();
    while (!batch_.is_empty()) made_.take(batch_.cut());
  }
  TreeBatch batch_;
  Made made_;
};

TEST_F(Batches, PutsManySmallFilesIntoOneAct) {
  for (int n = 0; n < 1000; ++n) {
    take({.path = "f" + std::to_string(n), .mode = 0444, .size = 3});
    take(0, "abc");
  }
  end();
  EXPECT_EQ(made_.acts, 1U);
  EXPECT_EQ(made_.files.size(), 1000U);
  EXPECT_EQ(made_.files["f7"], "abc");
  EXPECT_EQ(made_.modes["f7"], 0444U);
}

TEST_F(Batches, PutsALargeFileIntoManyAndLocksItLast) {
  std::string whole(5'000'000, '\0');
  std::iota(whole.begin(), whole.end(), '\0');
  take({.path = "large", .mode = 0400, .size = whole.size()});
  for (std::size_t at = 0; at < whole.size(); at += frame::kMostArchiveData) {
    take(at, whole.substr(at, frame::kMostArchiveData));
  }
  take({.path = "next", .mode = 0600});
  end();
  EXPECT_GT(made_.acts, 4U);
  EXPECT_EQ(made_.files["large"], whole);
  EXPECT_EQ(made_.modes["large"], 0400U);
}

TEST_F(Batches, KeepsHoles) {
  take({.path = "f", .mode = 0644, .size = 10});
  take(2, "ab");
  take(4, "c");
  take(8, "d");
  end();
  EXPECT_EQ(made_.files["f"], std::string("\0\0abc\0\0\0d\0", 10));
}

TEST_F(Batches, GivesDirectoriesTheirModesLastAndInnermostFirst) {
  take({.path = ".", .type = ArchiveType::directory, .mode = 0});
  take({.path = "d", .type = ArchiveType::directory, .mode = 0555});
  take({.path = "d/e", .type = ArchiveType::directory, .mode = 0500});
  take({.path = "d/e/f", .mode = 0644});
  batch_.end();
  const frame::WriteTree act = batch_.cut();
  ASSERT_EQ(act.pieces.size(), 5U);
  EXPECT_EQ(act.pieces[0].entry.mode, 0755U);
  EXPECT_EQ(act.pieces[1].entry.mode, 0700U);
  EXPECT_EQ(act.pieces[3].entry.path, "d/e");
  EXPECT_EQ(act.pieces[3].entry.mode, 0500U);
  EXPECT_EQ(act.pieces[4].entry.path, "d");
  EXPECT_EQ(act.pieces[4].entry.mode, 0555U);
  EXPECT_TRUE(batch_.is_empty());
}

TEST_F(Batches, KeepsItsBoundsWithManyDirectories) {
  for (int n = 0; n < 5000; ++n) {
    take({.path = "d" + std::to_string(n), .type = ArchiveType::directory, .mode = 0500});
  }
  end();
  EXPECT_EQ(made_.modes.size(), 5000U);
  for (const auto& [name, mode] : made_.modes) EXPECT_EQ(mode, 0500U) << name;
}

TEST_F(Batches, TakesNoBytesOfNoFile) {
  EXPECT_FALSE(batch_.take(ArchiveData{.offset = 0, .bytes = "x"}));
  batch_.take({.path = "d", .type = ArchiveType::directory});
  EXPECT_FALSE(batch_.take(ArchiveData{.offset = 0, .bytes = "x"}));
}

}  // namespace
}  // namespace cordon::node
