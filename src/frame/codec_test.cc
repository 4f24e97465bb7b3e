// SPDX-License-Identifier: Apache-2.0
// Every message survives the wire, and nothing but what a writer writes is read.
#include <gtest/gtest.h>

#include "frame/guest.h"
#include "frame/launch_plan.h"
#include "frame/launcher.h"

namespace cordon::frame {
namespace {

Fences some_fences() {
  return {.uid = 1000,
          .gid = 1001,
          .filter = "strict",
          .capabilities = {5, 10},
          .landlock_abi = 7,
          .paths = {{"/usr", PathUse::read_exec}, {"/tmp", PathUse::all}},
          .limits = {.open_files = 64, .processes = 9, .file_size = 8, .address_space = 7}};
}

std::vector<ToGuest> all_to_guest() {
  return {Setup{.fences = some_fences(), .disk = "/tmp"},
          Start{.process = 7,
                .arguments = {"sh", "-c", ""},
                .environment = {"A=b"},
                .directory = "/w",
                .terminal = WindowSize{.rows = 1, .columns = 2},
                .input = false},
          Input{.process = 1, .offset = 1ULL << 40U, .bytes = std::string("\0x", 2), .last = true},
          Signal{.process = 1, .number = 9, .to = SignalTo::all},
          Resize{.process = 1, .size = {.rows = 5, .columns = 6}},
          Acknowledge{.process = 1, .stream = Stream::err, .offset = 3},
          AcknowledgeExit{.process = 4},
          Resume{},
          AskUsage{.request = 3},
          FileRequest{.request = 1,
                      .act = FileAct::rename,
                      .path = "/a",
                      .offset = 2,
                      .count = 3,
                      .bytes = "/b",
                      .beneath = "/w",
                      .mode = 0640,
                      .modified = 1ULL << 60U,
                      .parents = true,
                      .exclusive = true,
                      .follow = true},
          Tree{.stands = false},
          OpenTunnel{.tunnel = 1, .port = 8080},
          TunnelData{.tunnel = 1, .bytes = "x"},
          TunnelEnd{.tunnel = 1},
          TunnelTaken{.tunnel = 1, .count = 1ULL << 40U},
          CloseTunnel{.tunnel = 1},
          StartWatch{.watch = 1, .path = "/a", .beneath = "/", .recursive = true},
          StopWatch{.watch = 1},
          WriteTree{.request = 1,
                    .path = "/w",
                    .beneath = "/",
                    .pieces = {{.entry = {.path = "d/h",
                                          .type = ArchiveType::hard_link,
                                          .mode = 0640,
                                          .size = 1ULL << 40U,
                                          .modified = 7,
                                          .target = "f"},
                                .offset = 1ULL << 33U,
                                .count = 1}},
                    .bytes = "x"},
          ReadTree{.request = 1, .path = "/w", .beneath = "/", .after = "a/b", .offset = 5},
          Wake{.host_name = "h",
               .seed = std::string(kSeedBytes, '\1'),
               .clock = 1ULL << 60U,
               .network = true,
               .traced = true}};
}

std::vector<FromGuest> all_from_guest() {
  return {
      Hello{},
      Failed{.process = 1, .step = "exec", .error_number = 2},
      Started{.process = 1, .pid = 12},
      Output{.process = 1, .stream = Stream::err, .offset = 9, .bytes = "x"},
      OutputEnd{.process = 1, .stream = Stream::out, .offset = 10},
      InputTaken{.process = 1, .offset = 11},
      Exited{.process = 1,
             .by_signal = true,
             .value = 9,
             .cpu_microseconds = 1,
             .most_memory = 2,
             .disk = {.bytes = 1, .most_bytes = 2, .inodes = 3, .most_inodes = 4},
             .oom_kills = 5},
      Usage{.request = 1, .disk = {}, .processes = 4},
      FileReply{.request = 1,
                .error_number = 2,
                .bytes = "b",
                .entries = {{.name = "n",
                             .type = FileType::link,
                             .target = "t",
                             .user = 1,
                             .group = 2,
                             .inode = 3}},
                .more = true},
      Processes{.highest = 9,
                .known = {{.process = 7,
                           .pid = 12,
                           .name = "sh",
                           .terminal = true,
                           .ended = true,
                           .end_acknowledged = true,
                           .out_acknowledged = 1ULL << 40U,
                           .err_acknowledged = 2,
                           .input_given = 3,
                           .input_ended = true}}},
      TunnelOpened{.tunnel = 1},
      TunnelFailed{.tunnel = 1, .error_number = 111},
      TunnelData{.tunnel = 1, .bytes = "x"},
      TunnelEnd{.tunnel = 1},
      TunnelTaken{.tunnel = 1, .count = 2},
      WatchBegun{.watch = 1},
      WatchEvents{
          .watch = 1,
          .events = {{.kind = WatchKind::moved_here, .name = "a/b", .directory = true, .move = 3}},
          .lost = true},
      WatchEnded{.watch = 1, .error_number = 2},
      Traced{.acts = {{.kind = TracedKind::connect,
                       .call = 42,
                       .pid = 7,
                       .parent = 2,
                       .error_number = 111,
                       .command = "nc",
                       .directory = "/work",
                       .path = std::string("\x02\0", 2),
                       .base = "/",
                       .arguments = {"a", ""},
                       .flags = 1}},
             .lost = 3,
             .unnamed = 4},
      Ready{},
  };
}

LaunchPlan some_plan() {
  LaunchPlan plan;
  plan.id = "abc";
  plan.namespaces = kNamespaces;
  plan.no_new_privs = true;
  plan.binds = {{.source = "/usr", .target = "/usr", .optional = true}};
  plan.files = {{.target = "/etc/passwd", .text = "x"}};
  plan.directories = {"/tmp"};
  plan.workspace = {.kind = WorkspaceKind::review,
                    .source = "/w",
                    .target = "/w",
                    .state = "/s",
                    .pins = {{.path = ".git", .kind = PinKind::hide, .directory = true}}};
  plan.disk = {.bytes = 1, .inodes = 2};
  plan.limits = {.memory = 3, .pids = 4};
  plan.setup.fences = some_fences();
  return plan;
}

std::span<const std::byte> body_of(const std::vector<std::byte>& framed) {
  return std::span{framed}.subspan(4);
}

TEST(GuestCodec, ReadsBackEveryFrameToTheGuest) {
  ASSERT_EQ(all_to_guest().size(), std::variant_size_v<ToGuest>);
  for (const ToGuest& frame : all_to_guest()) {
    const auto read = decode_to_guest(body_of(encode(frame)));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, frame) << frame.index();
  }
}

TEST(GuestCodec, ReadsBackEveryFrameFromTheGuest) {
  ASSERT_EQ(all_from_guest().size(), std::variant_size_v<FromGuest>);
  for (const FromGuest& frame : all_from_guest()) {
    const auto read = decode_from_guest(body_of(encode(frame)));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, frame) << frame.index();
  }
}

TEST(GuestCodec, RefusesEveryFrameThatIsCutShortOrHasMore) {
  for (const FromGuest& frame : all_from_guest()) {
    std::vector<std::byte> framed = encode(frame);
    for (std::size_t length = 0; length < framed.size() - 4; ++length) {
      EXPECT_FALSE(decode_from_guest(std::span{framed}.subspan(4, length))) << frame.index();
    }
    framed.push_back(std::byte{0});
    EXPECT_FALSE(decode_from_guest(body_of(framed))) << frame.index();
  }
}

TEST(GuestCodec, RefusesAKindThatDoesNotExist) {
  const std::vector<std::byte> unknown(1, std::byte{std::variant_size_v<FromGuest>});
  EXPECT_FALSE(decode_from_guest(unknown));
  EXPECT_FALSE(decode_to_guest({}));
}

TEST(GuestCodec, RefusesChoicesPastTheLastAndFlagsThatAreNoFlags) {
  std::vector<std::byte> framed = encode(ToGuest{Signal{.process = 1, .number = 9}});
  framed.back() = std::byte{3};
  EXPECT_FALSE(decode_to_guest(body_of(framed)));
  framed = encode(ToGuest{Input{.process = 1}});
  framed.back() = std::byte{2};
  EXPECT_FALSE(decode_to_guest(body_of(framed)));
}

TEST(GuestCodec, RefusesAListLongerThanItsFrame) {
  ByteWriter out;
  out.integer(std::uint8_t{1});  // Start
  out.integer(std::uint32_t{1});
  out.integer(std::uint32_t{4000});
  out.text("a");
  EXPECT_FALSE(decode_to_guest(out.bytes()));
}

TEST(FrameCutter, GivesTheSameFramesHoweverTheBytesArrive) {
  std::vector<std::byte> stream;
  for (const FromGuest& frame : all_from_guest()) {
    const auto framed = encode(frame);
    stream.insert(stream.end(), framed.begin(), framed.end());
  }
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{7}, stream.size()}) {
    FrameCutter cutter;
    std::vector<FromGuest> seen;
    for (std::size_t at = 0; at < stream.size(); at += chunk) {
      cutter.push(std::span{stream}.subspan(at, std::min(chunk, stream.size() - at)));
      for (;;) {
        const auto next = cutter.next();
        ASSERT_TRUE(next);
        const auto body = *next;
        if (!body) break;
        const auto frame = decode_from_guest(*body);
        ASSERT_TRUE(frame);
        seen.push_back(*frame);
      }
    }
    EXPECT_EQ(seen, all_from_guest());
  }
}

TEST(FrameCutter, RefusesFramesThatAreEmptyOrTooLong) {
  for (const std::uint32_t length : {0U, 17U, 0xffffffffU}) {
    FrameCutter cutter{16};
    ByteWriter out;
    out.integer(length);
    cutter.push(out.bytes());
    EXPECT_FALSE(cutter.next()) << length;
  }
}

TEST(PlanCodec, ReadsBackAPlan) {
  const auto read = decode_plan(encode(some_plan()));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->plan(), some_plan());
}

TEST(PlanCodec, RefusesAPlanThatIsCutShortTooLongOrHasMore) {
  std::vector<std::byte> bytes = encode(some_plan());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_plan(std::span{bytes}.first(length)));
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_plan(bytes));
  LaunchPlan large = some_plan();
  large.files[0].text.resize(kLongestPlan);
  EXPECT_FALSE(decode_plan(encode(large)));
}

TEST(LauncherCodec, ReadsBackEveryMessage) {
  for (const ToLauncher& message :
       {ToLauncher{Launch{"p"}}, ToLauncher{Destroy{"i"}}, ToLauncher{Fetch{"i"}},
        ToLauncher{Deposit{"i"}}, ToLauncher{List{"i"}}}) {
    const auto read = decode_to_launcher(encode(message));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, message);
  }
  for (const FromLauncher& message :
       {FromLauncher{Launched{.id = "i", .pid = 1, .first_id = 2, .groups = {"g"}}},
        FromLauncher{Refused{"i", "c", "t"}}, FromLauncher{Broken{"i", "s", 1, "t"}},
        FromLauncher{Ended{"i", true, 9, {.memory_peak = 4, .oom_kills = 1}}},
        FromLauncher{Stored{"i"}},
        FromLauncher{Sandboxes{{{"a", HeldAs::ended}, {"b", HeldAs::deposited}}, true}},
        FromLauncher{Welcome{}}}) {
    const auto read = decode_from_launcher(encode(message));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, message);
  }
}

}  // namespace
}  // namespace cordon::frame
