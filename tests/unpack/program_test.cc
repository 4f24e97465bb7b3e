// SPDX-License-Identifier: Apache-2.0
// The program as it is started: an archive of this machine's tar through it, there and back.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <vector>

#include <gtest/gtest.h>

#include "frame/archive.h"
#include "frame/guest.h"
#include "os/test_support.h"

namespace cordon::unpack {
namespace {

namespace fs = std::filesystem;

class Program : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return dir_.path() / name; }
  // By the shell, in the directory of the test; the exit code.
  int run(const std::string& script) const {
    const std::string line =
        "cd '" + dir_.path().string() + "' && unpack='" CORDON_UNPACK "' && " + script + " 2>said";
    const int status = std::system(line.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string text(const std::string& name) const {
    std::ifstream file{at(name), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  std::vector<frame::FromArchive> frames(const std::string& name) const {
    const std::string bytes = text(name);
    frame::FrameCutter cutter{frame::kLongestArchiveFrame};
    cutter.push(std::as_bytes(std::span{bytes}));
    std::vector<frame::FromArchive> all;
    while (true) {
      const auto next = cutter.next();
      const auto body = next ? *next : std::nullopt;
      if (!body) return all;
      auto frame = frame::decode_from_archive(*body);
      EXPECT_TRUE(frame);
      if (frame) all.push_back(*std::move(frame));
    }
  }
  os::TempDir dir_;
};

TEST_F(Program, ReadsWhatTarWritesAndWritesWhatTarReads) {
  fs::create_directories(at("in/d"));
  std::ofstream{at("in/d/f")} << std::string(200'000, 'x');
  std::ofstream{at("in/g")} << "text";
  fs::create_symlink("d/f", at("in/l"));
  ASSERT_EQ(run("tar cz -C in . | \"$unpack\" read >frames"), 0) << text("said");
  const auto all = frames("frames");
  ASSERT_FALSE(all.empty());
  const auto* end = std::get_if<frame::ArchiveEnd>(&all.back());
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->entries, 5U);
  EXPECT_EQ(end->bytes, 200'004U);
  // The same frames make an archive of the same.
  std::ofstream back{at("back"), std::ios::binary};
  for (const frame::FromArchive& said : all) {
    const auto sent = std::visit(
        [](const auto& each) -> std::vector<std::byte> {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(each)>,
                                       frame::ArchiveRefused>) {
            return {};
          } else {
            return encode(frame::ToArchive{each});
          }
        },
        said);
    back.write(reinterpret_cast<const char*>(sent.data()),
               static_cast<std::streamsize>(sent.size()));
  }
  back.close();
  for (const char* packing : {"tar", "tar.gz", "tar.zst"}) {
    fs::remove_all(at("out"));
    fs::create_directories(at("out"));
    ASSERT_EQ(run(std::string{"<back \"$unpack\" write "} + packing + " >made"), 0) << text("said");
    const std::string unzip = packing == std::string{"tar.zst"} ? "--zstd " : "";
    if (run("tar x " + unzip + "-f made -C out") != 0 && !unzip.empty()) continue;  // no zstd here
    EXPECT_EQ(text("out/g"), "text") << packing;
    EXPECT_EQ(text("out/d/f"), std::string(200'000, 'x')) << packing;
    EXPECT_EQ(fs::read_symlink(at("out/l")), "d/f") << packing;
  }
}

TEST_F(Program, SaysWhyItTakesAnArchiveNot) {
  fs::create_directories(at("in"));
  std::ofstream{at("in/f")} << "text";
  ASSERT_EQ(run("tar c -P in/../in/f | \"$unpack\" read >frames"), 0) << text("said");
  const auto all = frames("frames");
  ASSERT_FALSE(all.empty());
  const auto* refused = std::get_if<frame::ArchiveRefused>(&all.back());
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, "unsafe_path");
  ASSERT_EQ(run("tar c in | \"$unpack\" read --entries 1 >frames"), 0);
  const auto few = frames("frames");
  ASSERT_FALSE(few.empty());
  refused = std::get_if<frame::ArchiveRefused>(&few.back());
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->code, "too_many_entries");
}

TEST_F(Program, EndsWithAnErrorOnFramesThatAreNone) {
  EXPECT_EQ(run("echo nonsense | \"$unpack\" write tar >made"), 125);
  EXPECT_EQ(run("\"$unpack\" write rar </dev/null >made"), 2);
  EXPECT_EQ(run("\"$unpack\" </dev/null >made"), 2);
}

}  // namespace
}  // namespace cordon::unpack
