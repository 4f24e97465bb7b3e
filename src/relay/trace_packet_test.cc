// SPDX-License-Identifier: Apache-2.0
// The packets are those of a real runsc (20221219).
#include "relay/trace_packet.h"

#include <cerrno>
#include <string>
#include <sys/syscall.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::relay {
namespace {

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
std::vector<std::byte> packet_of(std::string_view hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  EXPECT_TRUE(from_hex(hex, bytes));
  return bytes;
}

template <class What>
What read_as(std::string_view hex) {
  const auto read = read_trace_packet(packet_of(hex));
  if (!read || !std::holds_alternative<What>(read->what)) {
    ADD_FAILURE() << "not read as it should be";
    return {};
  }
  return std::get<What>(read->what);
}

constexpr std::string_view kOpen =
    "08000700000000000a08200142042f746d7012020803188102209cffffffffffffffff0132072f746d702f616138c1"
    "0440b603";
constexpr std::string_view kExec =
    "08000b00000000000a08200342042f746d701200183b320b2f7573722f62696e2f6d763a026d763a0261613a02636"
    "3";

TEST(TracePacket, TellsOfAFileThatWasOpened) {
  const auto act = read_as<frame::TracedAct>(kOpen);
  const frame::TracedAct told{.kind = frame::TracedKind::open,
                              .call = 257,
                              .pid = 1,
                              .directory = "/tmp",
                              .path = "/tmp/aa",
                              .flags = 01101};
  EXPECT_EQ(act, told);
}

TEST(TracePacket, TellsWhereAPathBeginsAndWhatRefusedIt) {
  const auto beneath = read_as<frame::TracedAct>(
      "08000700000000000a08200642042f746d701202080518810220042a042f746d7032027a7a38c1802040ff03");
  EXPECT_EQ(beneath.base, "/tmp");
  EXPECT_EQ(beneath.path, "zz");
  const auto refused = read_as<frame::TracedAct>(
      "08000700000000000a08200642042f746d701202101e188102209cffffffffffffffff0132062f7573722f7838c1"
      "842040b603");
  EXPECT_EQ(refused.error_number, static_cast<std::uint32_t>(EROFS));
  EXPECT_EQ(refused.path, "/usr/x");
}

TEST(TracePacket, TellsOfAProgramWithItsArguments) {
  const auto act = read_as<frame::TracedAct>(kExec);
  const frame::TracedAct told{.kind = frame::TracedKind::exec,
                              .call = 59,
                              .pid = 3,
                              .directory = "/tmp",
                              .path = "/usr/bin/mv",
                              .arguments = {"mv", "aa", "cc"}};
  EXPECT_EQ(act, told);
}

TEST(TracePacket, TellsOfAConnectionByItsAddress) {
  const auto act = read_as<frame::TracedAct>(
      "08000a00000000000a0220061202106f182a20033210020000097f0000010000000000000000");
  EXPECT_EQ(act.kind, frame::TracedKind::connect);
  EXPECT_EQ(act.pid, 6U);
  EXPECT_EQ(act.error_number, static_cast<std::uint32_t>(ECONNREFUSED));
  EXPECT_EQ(act.path.size(), 16U);
  EXPECT_EQ(act.path.substr(0, 8), std::string("\x02\0\0\x09\x7f\0\0\x01", 8));
}

TEST(TracePacket, TellsOfProcessesAndOfCallsByNumber) {
  const auto clone =
      read_as<TracedClone>("08000200000000000a0220011802200228cf98a5c299dfc1f41830808201");
  EXPECT_EQ(clone.by, 1U);
  EXPECT_EQ(clone.made, 2U);
  EXPECT_EQ(read_as<TracedEnd>("08000400000000000a022002").pid, 2U);
  const auto number = read_as<TracedNumber>(
      "080006000000000012020803208102289cffffff0f30b1a1ed9da2e41f3880802050ca81d1d6d4c115");
  EXPECT_EQ(number.call, 257U);
  EXPECT_EQ(number.flags, 02000000U);
  EXPECT_EQ(number.error_number, 0U);
}

TEST(TracePacket, CountsWhatWasDroppedAndPassesOverWhatNobodyAskedFor) {
  const auto other = read_trace_packet(packet_of("0800ff0007000000ffff"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->dropped, 7U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(other->what));
  // A later version may have a longer head.
  EXPECT_EQ(read_as<TracedEnd>("0a00040000000000abcd0a022002").pid, 2U);
}

TEST(TracePacket, IsReadWholeOrNotAtAll) {
  const std::vector<std::byte> whole = packet_of(kExec);
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (!read_trace_packet(std::span{whole}.first(size))) ++refused;
  }
  EXPECT_GT(refused, whole.size() / 2);  // at the border of a field it is a shorter message
  EXPECT_FALSE(read_trace_packet(packet_of("0700040000000000")));
  EXPECT_FALSE(read_trace_packet(packet_of("ffff040000000000")));
}

TEST(TracePacket, CutsWhatIsTooLong) {
  std::vector<std::byte> packet = packet_of("08000b0000000000");
  const auto add = [&](std::string_view key, std::size_t size) {
    for (const std::byte byte : packet_of(key)) packet.push_back(byte);
    packet.push_back(std::byte{static_cast<unsigned char>(0x80U | (size & 0x7fU))});
    packet.push_back(std::byte{static_cast<unsigned char>(size >> 7U)});
    packet.insert(packet.end(), size, std::byte{'x'});
  };
  add("32", 9000);                              // the path
  for (int i = 0; i < 20; ++i) add("3a", 300);  // arguments
  const auto read = read_trace_packet(packet);
  ASSERT_TRUE(read);
  const auto& act = std::get<frame::TracedAct>(read->what);
  EXPECT_EQ(act.path.size(), frame::kLongestTracedPath);
  std::size_t size = 0;
  for (const std::string& argument : act.arguments) size += argument.size();
  EXPECT_LE(size, frame::kMostTracedArguments);
  EXPECT_EQ(act.arguments.size(), 4U);
}

TEST(TracePacket, ShakesHandsWithEachVersion) {
  EXPECT_TRUE(check_handshake(kHandshake));
  EXPECT_TRUE(check_handshake(packet_of("0802")));
  EXPECT_FALSE(check_handshake(packet_of("0800")));
  EXPECT_FALSE(check_handshake({}));
  EXPECT_FALSE(check_handshake(packet_of("08")));
}

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace
}  // namespace cordon::relay
