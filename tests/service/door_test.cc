// SPDX-License-Identifier: Apache-2.0
// Who is let in, and where the socket may lie.
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "os/test_support.h"
#include "service.h"

namespace cordon::service {
namespace {

constexpr std::uint32_t kNobody = 65'534;
constexpr std::uint32_t kStranger = 65'531;

// What a node of another user hears.
std::string heard_as(std::uint32_t uid, const std::string& socket) {
  return os::in_child([&]() -> std::string {
    if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) return "no such id";
    auto node = Node::connect(socket);
    if (!node) return node.error().text();
    const Answer first = node->hear();
    return first.as<frame::Welcome>() != nullptr ? "welcome" : first.text();
  });
}

TEST_F(RootService, ServesTheUserThatItsFloorNamesAndNoOther) {
  write_floor({}, kNobody);
  start();
  struct stat st{};
  ASSERT_EQ(::stat(socket().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777U, 0600U);
  EXPECT_EQ(st.st_uid, kNobody);
  EXPECT_EQ(heard_as(kNobody, socket()), "welcome");
  EXPECT_NE(heard_as(kStranger, socket()).find("Permission denied"), std::string::npos);
  // Root passes every mode; the launcher looks who it is.
  EXPECT_EQ(heard_as(0, socket()), "denied: this launcher serves another user");
}

TEST_F(RootService, ServesOneNodeAtATime) {
  start();
  {
    Node first = node();
    auto second = Node::connect(socket());
    ASSERT_TRUE(second);
    EXPECT_EQ(second->hear().text(), "busy: another node is connected");
    EXPECT_EQ(second->hear().text(), "gone: the launcher said nothing");
    EXPECT_TRUE(first.list().empty());
  }
  Node third = node();
  EXPECT_TRUE(third.list().empty());
}

TEST_F(RootService, LetsGoOfANodeThatDoesNotRead) {
  start();
  Node deaf = node();
  const auto request = frame::encode(frame::ToLauncher{frame::List{}});
  ASSERT_TRUE(os::set_nonblocking(deaf.socket(), true));
  // Its answers fill the way back.
  EXPECT_TRUE(comes_true([&] {
    for (;;) {
      const auto sent = os::send(deaf.socket(), request);
      if (!sent) return sent.error().cause().value() == EPIPE;
    }
  }));
  // It is another's turn, although the first still holds its end.
  Node next = node();
  EXPECT_TRUE(next.list().empty());
}

TEST_F(RootService, ReplacesASocketThatNobodyAnswers) {
  start();
  ASSERT_EQ(stop(SIGKILL).value, SIGKILL);
  ASSERT_TRUE(exists(socket()));
  start();
  EXPECT_TRUE(node().list().empty());
}

TEST_F(RootService, TakesNoPlaceWhereAnotherAnswers) {
  start();
  const Outcome second = run_to_end();
  EXPECT_EQ(second.status.value, 125);
  EXPECT_EQ(second.said, "cordon: launcher: " + socket() + ": another launcher listens there\n");
  EXPECT_TRUE(node().list().empty());
}

TEST_F(RootService, TakesNoPlaceOfAnotherFile) {
  std::ofstream{socket()} << "kept";
  const Outcome outcome = run_to_end();
  EXPECT_EQ(outcome.status.value, 125);
  EXPECT_EQ(outcome.said, "cordon: launcher: " + socket() + ": something else is there\n");
  EXPECT_TRUE(exists(socket()));
}

TEST_F(RootService, MakesNoSocketWhereOthersCanReplaceIt) {
  ASSERT_EQ(::chmod(path("run").c_str(), 0777), 0);
  EXPECT_EQ(run_to_end().said, "cordon: launcher: " + path("run") + " can be written by others\n");
  ASSERT_EQ(::chmod(path("run").c_str(), 0755), 0);
  ASSERT_EQ(::chown(path("run").c_str(), kNobody, 0), 0);
  EXPECT_EQ(run_to_end().said, "cordon: launcher: " + path("run") + " belongs to somebody else\n");
}

TEST_F(RootService, DoesNotStartBelowAFloorThatItDoesNotUnderstand) {
  write_floor("anything = goes\n");
  const std::string said = run_to_end().said;
  EXPECT_TRUE(said.starts_with("cordon: launcher: " + path("floor") + ":")) << said;
  EXPECT_TRUE(said.ends_with("unknown key \"anything\"\n")) << said;
  write_floor("source = " + path("nowhere") + "\n");
  const std::string missing = run_to_end().said;
  EXPECT_NE(missing.find("source " + path("nowhere")), std::string::npos) << missing;
}

}  // namespace
}  // namespace cordon::service
