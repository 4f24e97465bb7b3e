// SPDX-License-Identifier: Apache-2.0
#include "launcher/floor_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/test_support.h"

namespace cordon::launcher {
namespace {

constexpr std::string_view kWhole =
    "# what a taken-over node can reach\n"
    "node_uid = 990\n"
    "first_id = 1879048192\n"
    "ranges = 4094\n"
    "\n"
    "source = /srv/cordon/images\n"
    "  source=/srv/cordon/data  \n"
    "cgroup = cordon/sandboxes\n"
    "isolation = gvisor\n"
    "runsc = /opt/runsc\n"
    "pin = sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff  /opt/runsc\n"
    "secrets = /srv/cordon/secrets\n"
    "notary = /srv/cordon/notary\n"
    "image_store = /srv/cordon/store\n"
    "secret_source = api.github.com file:/srv/cordon/token\n"
    "secret_source = api.github.com   env:GITHUB_TOKEN\n"
    "secret_source = api.openai.com cmd:pass show openai\n"
    "secret_source_uid = 991\n"
    "writable_binds = true\n"
    "disk_images = true\n"
    "networks_ahead = 16\n"
    "groups_ahead = 0\n"
    "engines_ahead = 3\n";

constexpr std::string_view kLeast =
    "node_uid = 990\nfirst_id = 1879048192\nranges = 16\nsource = /srv\n";

TEST(FloorFile, IsReadWhole) {
  const auto floor = parse_floor(kWhole, "f");
  ASSERT_TRUE(floor) << floor.error().text();
  EXPECT_EQ(floor->node_uid, 990U);
  EXPECT_EQ(floor->floor.first_id, 0x70000000U);
  EXPECT_EQ(floor->floor.ranges, 4094U);
  EXPECT_EQ(floor->floor.sources,
            (std::vector<std::string>{"/srv/cordon/images", "/srv/cordon/data"}));
  EXPECT_EQ(floor->cgroup, "cordon/sandboxes");
  EXPECT_EQ(floor->floor.least_engine, frame::Engine::gvisor);
  EXPECT_EQ(floor->floor.runsc, "/opt/runsc");
  EXPECT_EQ(floor->floor.pins,
            (PinnedDigests{{"/opt/runsc",
                            "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddee"
                            "ff"}}));
  EXPECT_EQ(floor->secrets, "/srv/cordon/secrets");
  EXPECT_EQ(floor->notary, "/srv/cordon/notary");
  EXPECT_EQ(floor->image_store, "/srv/cordon/store");
  EXPECT_EQ(floor->secret_sources.all,
            (std::vector<SecretSource>{{"api.github.com", "file:/srv/cordon/token"},
                                       {"api.github.com", "env:GITHUB_TOKEN"},
                                       {"api.openai.com", "cmd:pass show openai"}}));
  EXPECT_EQ(floor->secret_sources.uid, 991U);
  EXPECT_TRUE(floor->floor.writable_binds);
  EXPECT_TRUE(floor->floor.disk_images);
  EXPECT_EQ(floor->networks_ahead, 16U);
  EXPECT_EQ(floor->groups_ahead, 0U);
  EXPECT_EQ(floor->engines_ahead, 3U);
}

TEST(FloorFile, ClosesWhatItDoesNotMention) {
  const auto floor = parse_floor(kLeast, "f");
  ASSERT_TRUE(floor) << floor.error().text();
  EXPECT_FALSE(floor->floor.caller_ids);
  EXPECT_FALSE(floor->floor.writable_binds);
  EXPECT_FALSE(floor->floor.disk_images);
  EXPECT_EQ(floor->floor.least_engine, frame::Engine::none);
  EXPECT_EQ(floor->floor.runsc, "");
  EXPECT_EQ(floor->cgroup, "");
  EXPECT_EQ(floor->secrets, "");
  EXPECT_EQ(floor->notary, "");
}

TEST(FloorFile, OfTheDocumentationIsOne) {
  std::ifstream file{CORDON_SOURCE_DIR "/docs/sandbox.md"};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  const std::size_t begin = page.find("# /etc/cordon/floor");
  ASSERT_NE(begin, std::string::npos);
  const auto floor = parse_floor(page.substr(begin, page.find("```", begin) - begin), "docs");
  ASSERT_TRUE(floor) << floor.error().text();
  EXPECT_EQ(floor->floor.sources.size(), 2U);
}

struct Refusal {
  const char* name;
  const char* line;  // after the four of kLeast
  const char* message;
};

class FloorFileRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(FloorFileRefuses, ALineWith) {
  const auto floor = parse_floor(std::string{kLeast} + GetParam().line, "/etc/f");
  ASSERT_FALSE(floor);
  EXPECT_EQ(floor.error().text(), GetParam().message);
}

const Refusal kRefusals[] = {
    {"AnUnknownKey", "sources = /srv", "/etc/f:5: unknown key \"sources\""},
    {"AKeyInOtherLetters", "Cgroup = x", "/etc/f:5: unknown key \"Cgroup\""},
    {"CallerIds", "caller_ids = true", "/etc/f:5: unknown key \"caller_ids\""},
    {"NoDirectoryForANotary", "notary = ../x",
     "/etc/f:5: \"../x\" is no path of a directory for the notary"},
    {"NoDirectoryForSecrets", "secrets = ../x",
     "/etc/f:5: \"../x\" is no path of a directory for secrets"},
    {"ASecretWithoutItsHost", "secret_source = env:TOKEN",
     "/etc/f:5: secret_source is \"HOST env:NAME\", \"HOST file:/PATH\" or \"HOST cmd:COMMAND\", "
     "the "
     "host a name in lower case"},
    {"ASecretForAllHosts", "secret_source = * env:TOKEN",
     "/etc/f:5: secret_source is \"HOST env:NAME\", \"HOST file:/PATH\" or \"HOST cmd:COMMAND\", "
     "the "
     "host a name in lower case"},
    {"ASecretOfARelativePath", "secret_source = a.example file:token",
     "/etc/f:5: secret_source is \"HOST env:NAME\", \"HOST file:/PATH\" or \"HOST cmd:COMMAND\", "
     "the "
     "host a name in lower case"},
    {"ASecretOfTheStore", "secret_source = a.example secret:token",
     "/etc/f:5: secret_source is \"HOST env:NAME\", \"HOST file:/PATH\" or \"HOST cmd:COMMAND\", "
     "the "
     "host a name in lower case"},
    {"ASecretTwice", "secret_source = a.example env:T\nsecret_source = a.example env:T",
     "/etc/f:6: the secret_source is there twice"},
    {"SecretsThatRootReads", "secret_source_uid = 0",
     "/etc/f:5: secret_source_uid is a user's, not root's"},
    {"SecretsThatTheNodeReads", "secret_source_uid = 990",
     "/etc/f: secret_source_uid is the node's: it could read the secrets itself"},
    {"SecretsThatASandboxReads", "secret_source_uid = 1879048200",
     "/etc/f: secret_source_uid lies in the ranges of the sandboxes"},
    {"SecretsThatNobodyReads", "secret_source = a.example env:T",
     "/etc/f: secret_source_uid is missing: who may read what secret_source names?"},
    {"APinWithoutItsFile", "pin = sha256:00",
     "/etc/f:5: pin is \"sha256:DIGEST PATH\", the digest 64 digits of 0-9 and a-f"},
    {"APinOfFewDigits", "pin = sha256:00 /opt/runsc",
     "/etc/f:5: pin is \"sha256:DIGEST PATH\", the digest 64 digits of 0-9 and a-f"},
    {"APinTwice",
     "pin = sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff /a\n"
     "pin = sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff /a",
     "/etc/f:6: the file is pinned twice"},
    {"APinOfWhatIsNeverRun",
     "pin = sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff /opt/runsc",
     "/etc/f: pin: /opt/runsc is neither the runsc nor the qemu of this floor, nor the vmlinux or "
     "initramfs of its machine"},
    {"NoEquals", "cgroup x", "/etc/f:5: a line is \"key = value\""},
    {"NoKey", "= x", "/etc/f:5: unknown key \"\""},
    {"NoValue", "cgroup =", "/etc/f:5: cgroup has no value"},
    {"AKeyAgain", "\nranges = 16", "/etc/f:6: ranges is there twice"},
    {"AnOptionalKeyAgain", "cgroup = a\ncgroup = a", "/etc/f:6: cgroup is there twice"},
    {"ASourceAgain", "source = /srv", "/etc/f:5: the source is there twice"},
    {"ARelativeSource", "source = srv",
     "/etc/f:5: \"srv\" is no absolute path without \".\", \"..\" and \"//\""},
    {"ASourceThatClimbs", "source = /srv/../root",
     "/etc/f:5: \"/srv/../root\" is no absolute path without \".\", \"..\" and \"//\""},
    {"TheRootAsSource", "source = /", "/etc/f:5: a floor of \"/\" is none: name directories"},
    {"AnAbsoluteGroup", "cgroup = /x",
     "/etc/f:5: \"/x\" is no path below the launcher's own group"},
    {"AGroupAbove", "cgroup = ../x",
     "/etc/f:5: \"../x\" is no path below the launcher's own group"},
    {"AnotherTruth", "disk_images = yes", "/etc/f:5: \"yes\" is neither true nor false"},
    {"WordsForANumber", "groups_ahead = many",
     "/etc/f:5: \"many\" is no decimal number below 4294967296"},
    {"ANegativeNumber", "groups_ahead = -1",
     "/etc/f:5: \"-1\" is no decimal number below 4294967296"},
    {"AHexadecimalNumber", "groups_ahead = 0x10",
     "/etc/f:5: \"0x10\" is no decimal number below 4294967296"},
    {"TooManyAhead", "networks_ahead = 257", "/etc/f:5: more than 256 ahead"},
    {"AControlCharacter", "cgroup = a\x01", "/etc/f:5: a character that is none of text"},
    {"ACommentBehindAValue", "groups_ahead = 1 # few",
     "/etc/f:5: \"1 # few\" is no decimal number below 4294967296"},
};

INSTANTIATE_TEST_SUITE_P(Line, FloorFileRefuses, ::testing::ValuesIn(kRefusals),
                         [](const auto& info) { return std::string{info.param.name}; });

std::string refusal_of(std::string_view text) {
  const auto floor = parse_floor(text, "f");
  return floor ? "accepted" : floor.error().text();
}

TEST(FloorFile, NeverGivesIdsOfTheHost) {
  EXPECT_EQ(refusal_of("first_id = 0\n"), "f:1: ids below 65536 are the host's own");
  EXPECT_EQ(refusal_of("first_id = 65535\n"), "f:1: ids below 65536 are the host's own");
  EXPECT_EQ(refusal_of("first_id = 65537\n"), "f:1: first_id is no multiple of 65536");
  EXPECT_EQ(refusal_of("ranges = 0\n"), "f:1: without a range no sandbox can have ids");
  EXPECT_EQ(refusal_of("node_uid = 9\nfirst_id = 65536\nranges = 65535\nsource = /srv\n"),
            "f: the ranges reach beyond the last id");
  EXPECT_EQ(refusal_of("node_uid = 9\nfirst_id = 65536\nranges = 65534\nsource = /srv\n"),
            "accepted");
  EXPECT_EQ(refusal_of("node_uid = 70000\nfirst_id = 65536\nranges = 1\nsource = /srv\n"),
            "f: node_uid lies in the ranges of the sandboxes");
}

TEST(FloorFile, MustSayWhoAndWhat) {
  EXPECT_EQ(refusal_of(""), "f: node_uid is missing");
  EXPECT_EQ(refusal_of("node_uid = 1"), "f: first_id is missing");
  EXPECT_EQ(refusal_of("node_uid = 1\nfirst_id = 65536\n"), "f: ranges is missing");
  EXPECT_EQ(refusal_of("node_uid = 1\nfirst_id = 65536\nranges = 1\n"), "f: source is missing");
}

class FloorFileOnDisk : public ::testing::Test {
 protected:
  std::string path(const char* name = "floor") const { return dir_.path() / name; }
  void write(mode_t mode = 0644) const {
    std::ofstream{path()} << kLeast;
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
  }
  static std::string read(const std::string& file) {
    const auto floor = read_floor(file);
    return floor ? "accepted" : floor.error().text();
  }
  os::TempDir dir_;
};

TEST_F(FloorFileOnDisk, IsAcceptedFromItsOwner) {
  write();
  EXPECT_EQ(read(path()), "accepted");
}

TEST_F(FloorFileOnDisk, IsRefusedWhenOthersCanWriteIt) {
  write(0664);
  EXPECT_EQ(read(path()), path() + ": floor can be written by others");
  write(0646);
  EXPECT_EQ(read(path()), path() + ": floor can be written by others");
}

TEST_F(FloorFileOnDisk, IsRefusedWhenOthersCanReplaceIt) {
  write();
  ASSERT_EQ(::chmod(dir_.path().c_str(), 0770), 0);
  EXPECT_EQ(read(path()), dir_.path().string() + " can be written by others");
}

TEST_F(FloorFileOnDisk, IsRefusedAsALink) {
  write();
  std::filesystem::create_symlink(path(), path("link"));
  EXPECT_EQ(read(path("link")), path("link") + ": link is a link");
}

TEST_F(FloorFileOnDisk, IsRefusedBehindALink) {
  write();
  os::TempDir other;
  const std::string link = other.path() / "way";
  std::filesystem::create_directory_symlink(dir_.path(), link);
  EXPECT_EQ(read(link + "/floor"), link + ": a link leads there");
}

TEST_F(FloorFileOnDisk, IsRefusedWhenItIsNoPlainFile) {
  std::filesystem::create_directory(path());
  EXPECT_EQ(read(path()), path() + ": floor is no plain file");
}

TEST_F(FloorFileOnDisk, IsRefusedByARelativeName) {
  EXPECT_EQ(read("floor"), "floor: not an absolute plain path");
}

TEST_F(FloorFileOnDisk, RootIsRefusedAFileOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  write();
  ASSERT_EQ(::chown(path().c_str(), 65'534, 65'534), 0);
  EXPECT_EQ(read(path()), path() + ": floor belongs to somebody else");
  ASSERT_EQ(::chown(path().c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(dir_.path().c_str(), 65'534, 65'534), 0);
  EXPECT_EQ(read(path()), dir_.path().string() + " belongs to somebody else");
}

}  // namespace
}  // namespace cordon::launcher
