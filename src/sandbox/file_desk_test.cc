// SPDX-License-Identifier: Apache-2.0
// File requests: overlapping, bounded, and never left waiting.
#include "sandbox/file_desk.h"

#include "sandbox/fake_guest_test.h"

namespace cordon::sandbox {
namespace {

using frame::FileReply;
using frame::FileRequest;

class FileLink : public LinkToAFake {
 protected:
  void SetUp() override { open(Origin::launched); }
  Pending<FileReply> ask(std::string path, std::string bytes = {}) {
    return begin(
        link_->files().ask(FileRequest{.path = std::move(path), .bytes = std::move(bytes)}));
  }
  bool hears(std::size_t count) {
    return run_until([&] { return heard_of<FileRequest>().size() == count; });
  }
};

TEST_F(FileLink, GivesEachCallItsOwnAnswer) {
  const auto one = ask("/one");
  const auto two = ask("/two");
  ASSERT_TRUE(hears(2));
  const auto asked = heard_of<FileRequest>();
  EXPECT_EQ(asked[0].path, "/one");
  EXPECT_NE(asked[0].request, asked[1].request);
  say(FileReply{.request = asked[1].request, .bytes = "2"});
  ASSERT_TRUE(comes(two));
  EXPECT_FALSE(one->has_value());
  say(FileReply{.request = asked[0].request, .error_number = 2});
  ASSERT_TRUE(comes(one));
  EXPECT_EQ((**two)->bytes, "2");
  ASSERT_TRUE(**one);  // an error number is a value
  EXPECT_EQ((**one)->error_number, 2);
}

TEST_F(FileLink, AsksForTreesInTheSameTurn) {
  const auto write = begin(link_->files().ask(
      frame::WriteTree{.path = "/w", .pieces = {{.entry = {.path = "f"}}}, .bytes = {}}));
  const auto read = begin(link_->files().ask(frame::ReadTree{.path = "/w"}));
  ASSERT_TRUE(run_until([&] { return !heard_of<frame::ReadTree>().empty(); }));
  const auto asked = heard_of<frame::WriteTree>();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].pieces[0].entry.path, "f");
  say(FileReply{.request = heard_of<frame::ReadTree>()[0].request, .bytes = "r"});
  say(FileReply{.request = asked[0].request, .bytes = "w"});
  ASSERT_TRUE(comes(write));
  ASSERT_TRUE(comes(read));
  EXPECT_EQ((**write)->bytes, "w");
  EXPECT_EQ((**read)->bytes, "r");
  const auto many = begin(link_->files().ask(frame::WriteTree{
      .pieces = std::vector<frame::TreePiece>(frame::kMostTreePieces + 1), .bytes = {}}));
  ASSERT_TRUE(comes(many));
  EXPECT_EQ((*many)->error().code(), Errc::invalid);
}

TEST_F(FileLink, TakesAnAnswerToNoQuestionForTheEnd) {
  const auto asked = ask("/f");
  ASSERT_TRUE(hears(1));
  say(FileReply{.request = heard_of<FileRequest>()[0].request + 1});
  ASSERT_TRUE(comes(asked));
  ASSERT_FALSE(**asked);
  EXPECT_EQ((*asked)->error().text(), "agent_protocol_error: an answer to no question");
}

TEST_F(FileLink, TakesTheSameAnswerTwiceForTheEnd) {
  const auto asked = ask("/f");
  ASSERT_TRUE(hears(1));
  const FileReply reply{.request = heard_of<FileRequest>()[0].request};
  say(reply);
  ASSERT_TRUE(comes(asked));
  EXPECT_TRUE(**asked);
  const auto other = ask("/g");
  ASSERT_TRUE(hears(2));
  say(reply);
  ASSERT_TRUE(comes(other));
  EXPECT_FALSE(**other);
}

TEST_F(FileLink, AsksNoMoreAtOnceThanTheGuestTakesAndHoldsNoMoreThanItsBound) {
  std::vector<Pending<FileReply>> calls;
  calls.reserve(frame::kMostFileActs + FileDesk::kMostWaiting);
  for (std::size_t i = 0; i < frame::kMostFileActs + FileDesk::kMostWaiting; ++i) {
    calls.push_back(ask("/f" + std::to_string(i)));
  }
  ASSERT_TRUE(hears(frame::kMostFileActs));
  const auto refused = ask("/last");
  ASSERT_TRUE(comes(refused));
  EXPECT_EQ((*refused)->error().code(), Errc::exhausted);
  EXPECT_FALSE(run_until([&] { return heard_of<FileRequest>().size() > frame::kMostFileActs; },
                         std::chrono::milliseconds{20}));
  say(FileReply{.request = heard_of<FileRequest>()[3].request});
  ASSERT_TRUE(hears(frame::kMostFileActs + 1));
  EXPECT_EQ(heard_of<FileRequest>().back().path, "/f" + std::to_string(frame::kMostFileActs));
  EXPECT_TRUE(calls[3]->has_value());
  // The stream ends: all are told.
  guest_ = os::Fd{};
  for (const auto& call : calls) ASSERT_TRUE(comes(call));
  EXPECT_EQ((*calls[0])->error().text(), "the sandbox has ended");
  EXPECT_EQ((*calls.back())->error().text(), "the sandbox has ended");
}

TEST_F(FileLink, RefusesMoreThanOneRequestTakes) {
  const auto call = ask("/f", std::string(frame::kMostFileBytes + 1, 'x'));
  ASSERT_TRUE(comes(call));
  EXPECT_EQ((*call)->error().code(), Errc::invalid);
}

// Long writes to a guest that is slow are no reason to give it up.
TEST_F(FileLink, WaitsForAGuestThatReadsLate) {
  std::vector<Pending<FileReply>> calls;
  calls.reserve(frame::kMostFileActs + FileDesk::kMostWaiting);
  for (std::size_t i = 0; i < frame::kMostFileActs; ++i) {
    calls.push_back(ask("/f", std::string(frame::kMostFileBytes, 'x')));
  }
  run_until([] { return false; }, std::chrono::milliseconds{20});
  for (const auto& call : calls) EXPECT_FALSE(call->has_value());
  ASSERT_TRUE(hears(frame::kMostFileActs));
  for (const FileRequest& asked : heard_of<FileRequest>()) say(FileReply{.request = asked.request});
  for (const auto& call : calls) {
    ASSERT_TRUE(comes(call));
    EXPECT_TRUE(**call);
  }
}

}  // namespace
}  // namespace cordon::sandbox
