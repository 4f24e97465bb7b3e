// SPDX-License-Identifier: Apache-2.0
// What a client may say over the WebSocket of a process: understood whole, or refused.
#include "wire/attach_message.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace cordon::wire {
namespace {

std::string all_bytes() {
  std::string all;
  for (int value = 0; value < 256; ++value) all += static_cast<char>(value);
  return all;
}

TEST(AttachMessage, IsReadAsItIsWritten) {
  const AttachMessage messages[] = {
      AcknowledgeMessage{5, INT64_MAX},
      AcknowledgeMessage{},
      InputMessage{"line\n\x1b[A"},
      InputMessage{all_bytes()},
      InputMessage{},
      EndMessage{},
      ResizeMessage{{50, 132}},
      SignalRequest{.number = 2},
      SignalRequest{15, true},
  };
  for (const AttachMessage& message : messages) {
    const auto read = read_attach_message(to_json(message));
    ASSERT_TRUE(read) << to_json(message) << ": " << read.error().text();
    EXPECT_EQ(*read, message) << to_json(message);
  }
}

TEST(AttachMessage, OfAStreamThatIsNotNamedAcknowledgesNothing) {
  EXPECT_EQ(*read_attach_message(R"({"type":"acknowledge","stdout":7})"),
            (AttachMessage{AcknowledgeMessage{7, 0}}));
  EXPECT_EQ(*read_attach_message(R"({"type":"signal","signal":"INT"})"),
            (AttachMessage{SignalRequest{.number = 2}}));
}

TEST(AttachMessage, IsRefusedWhereItCouldMeanAnythingElse) {
  for (const char* text : {"",
                           "[]",
                           "\"end\"",
                           "null",
                           "{}",
                           R"({"type":"END"})",
                           R"({"type":7})",
                           R"({"type":"end","type":"end"})",
                           R"({"type":"end","data":""})",
                           R"({"type":"end"} x)",
                           R"({"type":"input"})",
                           R"({"type":"input","data":"a","data_base64":"YQ=="})",
                           R"({"type":"input","data":7})",
                           R"({"type":"input","data_base64":"YQ"})",
                           R"({"type":"input","data_base64":"YR=="})",
                           R"({"type":"acknowledge","stdout":-1})",
                           R"({"type":"acknowledge","stdout":1.5})",
                           R"({"type":"acknowledge","stdout":"1"})",
                           R"({"type":"acknowledge","stdout":18446744073709551615})",
                           R"({"type":"resize","rows":1})",
                           R"({"type":"resize","rows":0,"cols":1})",
                           R"({"type":"resize","rows":1,"cols":4097})",
                           R"({"type":"resize","rows":1,"cols":1,"x":1})",
                           R"({"type":"signal"})",
                           R"({"type":"signal","signal":0})",
                           R"({"type":"signal","signal":65})",
                           R"({"type":"signal","signal":"SIGNOT"})",
                           R"({"type":"signal","signal":9,"group":1})"}) {
    const auto read = read_attach_message(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), Errc::invalid) << text;
  }
}

TEST(OutputFrame, HasItsPlaceInFrontOfItsBytes) {
  EXPECT_EQ(to_bytes({.is_error = true, .offset = 0x0102030405060708U, .bytes = "ab"}),
            "\1\1\2\3\4\5\6\7\bab");
  const std::string bytes = all_bytes();
  for (const OutputFrame& frame :
       {OutputFrame{false, 0, bytes}, OutputFrame{true, UINT64_MAX, ""}}) {
    const std::string written = to_bytes(frame);
    const auto read = read_output_frame(written);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, frame);
  }
  for (const std::string& none : {std::string{}, std::string(8, '\0'), "\2" + std::string(8, '\0')})
    EXPECT_FALSE(read_output_frame(none));
}

TEST(AttachEvents, AreObjectsOfOneLine) {
  EXPECT_EQ(boost::json::parse(input_event(7)).at("offset"), 7);
  const std::string told = error_event({Errc::denied, "not \"this\"\n"});
  EXPECT_EQ(told.find('\n'), std::string::npos);
  EXPECT_EQ(boost::json::parse(told).at("code"), "CORDON-API-DENIED");
}

}  // namespace
}  // namespace cordon::wire
