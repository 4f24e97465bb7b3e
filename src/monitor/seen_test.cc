// SPDX-License-Identifier: Apache-2.0
#include "monitor/seen.h"

#include <cstring>

#include <gtest/gtest.h>

#include "recorder/kernel/layout.h"

namespace cordon::monitor {
namespace {

std::vector<std::byte> event_of(cordon_event event, const std::array<std::string, 3>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    event.lengths[i] = static_cast<unsigned short>(texts[i].size());
  }
  std::vector<std::byte> bytes(sizeof event);
  std::memcpy(bytes.data(), &event, sizeof event);
  for (const std::string& text : texts) {
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  }
  return bytes;
}

using std::string_literals::operator""s;

TEST(Seen, AProgramWithItsArgumentsAndItsDirectory) {
  const auto seen = read_seen(
      event_of({.group = 5, .kind = CORDON_KIND_EXEC, .pid = 3, .parent = 1, .command = "sh"},
               {"/bin/sh\0"s, "sh\0-c\0\0x y\0"s, "d\0workspace\0"s}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->group, 5U);
  EXPECT_EQ(seen->pid, 3U);
  EXPECT_EQ(seen->command, "sh");
  const auto& exec = std::get<SeenExec>(seen->what);
  EXPECT_EQ(exec.program, "/bin/sh");
  EXPECT_EQ(exec.arguments, (std::vector<std::string>{"sh", "-c", "", "x y"}));
  EXPECT_EQ(exec.directory, "/workspace/d");
}

SeenFile file(std::string used, std::string walked, unsigned as, bool is_cut = false) {
  cordon_event event{.kind = CORDON_KIND_FILE, .walked = as};
  event.is_cut = is_cut ? 1 : 0;
  const auto seen = read_seen(event_of(event, {std::move(used), "", std::move(walked)}));
  EXPECT_TRUE(seen);
  return std::get<SeenFile>(seen->what);
}

TEST(Seen, WhereAFileIs) {
  EXPECT_EQ(file("a\0"s, "d\0w\0"s, CORDON_WALKED_BASE).resolved, "/w/d/a");
  EXPECT_EQ(file("a\0"s, "", CORDON_WALKED_BASE).resolved, "/a") << "in the root";
  EXPECT_EQ(file("/x\0"s, "", CORDON_WALKED_NOTHING).resolved, "");
  EXPECT_EQ(file("link\0"s, "a\0w\0"s, CORDON_WALKED_FILE).resolved, "/w/a") << "behind the link";
  EXPECT_EQ(file("a\0"s, "d\0"s, CORDON_WALKED_BASE, true).resolved, "…/d/a") << "too deep";
}

SeenConnect connect(std::string address) {
  const auto seen =
      read_seen(event_of({.kind = CORDON_KIND_CONNECT}, {std::move(address), "", ""}));
  EXPECT_TRUE(seen);
  return std::get<SeenConnect>(seen->what);
}

TEST(Seen, WhereAConnectionGoes) {
  EXPECT_EQ(connect("\x02\0\x01\xbb\xc0\0\x02\x07\0\0"s).address, "192.0.2.7");
  EXPECT_EQ(connect("\x02\0\x01\xbb\xc0\0\x02\x07\0\0"s).port, 443);
  EXPECT_EQ(
      connect("\x0a\0\0\x50\0\0\0\0\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0"s).address,
      "2001:db8::1");
  EXPECT_EQ(connect("\x01\0/run/x\0junk"s).address, "unix:/run/x");
  EXPECT_EQ(connect("\x01\0\0name"s).address, "unix:@name");
  EXPECT_EQ(connect("\x10\0\0\0\0\0\0\0"s).address, "family 16");
  EXPECT_EQ(connect("\x02\0\x01"s).address, "") << "cut off";
  EXPECT_EQ(connect("\x02\0\x01\xbb\xc0"s).address, "family 2") << "cut off";
  EXPECT_EQ(connect("").address, "");
}

TEST(Seen, WhatIsNoneIsRefused) {
  const auto whole = event_of({.kind = CORDON_KIND_EXEC}, {"/bin/sh\0"s, "sh\0"s, "w\0"s});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(read_seen(std::span{whole}.first(length))) << length;
  }
  EXPECT_FALSE(read_seen(event_of({.kind = 0}, {})));
  EXPECT_FALSE(read_seen(event_of({.kind = 9}, {})));
}

}  // namespace
}  // namespace cordon::monitor
