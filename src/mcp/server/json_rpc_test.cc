// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/json_rpc.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/server/era.h"

namespace cordon::mcp::server {
namespace {

int code_of(const Message& message) {
  const auto* const fault = std::get_if<Fault>(&message);
  return fault == nullptr ? 0 : fault->problem.code;
}

TEST(JsonRpc, ReadsRequestsNotificationsAndAnswers) {
  const Message request =
      read_message(R"({"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}})");
  ASSERT_TRUE(std::holds_alternative<Request>(request));
  EXPECT_EQ(std::get<Request>(request).method, "m");
  EXPECT_EQ(std::get<Request>(request).params.at("x").as_int64(), 1);
  EXPECT_TRUE(
      std::holds_alternative<Notification>(read_message(R"({"jsonrpc":"2.0","method":"m"})")));
  const Message answer = read_message(R"({"jsonrpc":"2.0","id":7,"result":{}})");
  ASSERT_TRUE(std::holds_alternative<Response>(answer));
  EXPECT_TRUE(std::get<Response>(answer).result.has_value());
  const Message error = read_message(R"({"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}})");
  ASSERT_TRUE(std::holds_alternative<Response>(error));
  EXPECT_FALSE(std::get<Response>(error).result.has_value());
}

TEST(JsonRpc, AnswersWhatIsNoMessageWithTheCodeOfWhatIsWrong) {
  EXPECT_EQ(code_of(read_message("garbage")), kParseError);
  EXPECT_EQ(code_of(read_message("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}")),
            kParseError);
  EXPECT_EQ(code_of(read_message(std::string(100, '[') + std::string(100, ']'))), kParseError);
  EXPECT_EQ(code_of(read_message("[]")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message("1")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"id":1,"method":"m"})")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"jsonrpc":"2.0","id":null,"method":"m"})")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"jsonrpc":"2.0","id":1.5,"method":"m"})")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"jsonrpc":"2.0","id":{},"method":"m"})")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"jsonrpc":"2.0","id":1,"method":2})")), kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})")),
            kInvalidRequest);
  EXPECT_EQ(code_of(read_message(R"({"jsonrpc":"2.0","id":1})")), kInvalidRequest);
}

TEST(JsonRpc, WritesOneLineWhateverIsInIt) {
  const std::string text = result_text("a\nb", {{"text", "one\ntwo\r"}});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(text).at("result").at("text").as_string(), "one\ntwo\r");
}

json::object params(const char* meta) {
  return json::parse(std::string{R"({"_meta":)"} + meta + "}").as_object();
}

TEST(Era, IsModernWhereTheEnvelopeNamesAVersion) {
  const auto modern = sender_of(params(
      R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}})"));
  ASSERT_TRUE(std::holds_alternative<Sender>(modern));
  EXPECT_EQ(std::get<Sender>(modern).era, Era::modern);
  EXPECT_TRUE(std::get<Sender>(modern).can_elicit);
  const auto legacy = sender_of(params(R"({"progressToken":1})"));
  ASSERT_TRUE(std::holds_alternative<Sender>(legacy));
  EXPECT_EQ(std::get<Sender>(legacy).era, Era::legacy);
}

TEST(Era, RefusesVersionsThatItDoesNotServeAndSaysWhichItDoes) {
  const auto said = sender_of(params(
      R"({"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}})"));
  ASSERT_TRUE(std::holds_alternative<Problem>(said));
  EXPECT_EQ(std::get<Problem>(said).code, kUnsupportedVersion);
  EXPECT_EQ(std::get<Problem>(said).data.at("supported").at(0).as_string(), "2026-07-28");
  EXPECT_EQ(std::get<Problem>(said).data.at("requested").as_string(), "2099-01-01");
}

TEST(Era, WantsCapabilitiesWithEveryModernRequest) {
  const auto said =
      sender_of(params(R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"));
  ASSERT_TRUE(std::holds_alternative<Problem>(said));
  EXPECT_EQ(std::get<Problem>(said).code, kInvalidParams);
}

TEST(Era, AnswersTheVersionThatIsWantedOrTheNewestOfThatEra) {
  EXPECT_EQ(legacy_version("2025-06-18"), "2025-06-18");
  EXPECT_EQ(legacy_version("1999-01-01"), "2025-11-25");
}

TEST(Era, TakesFormsAloneForAWayToAsk) {
  EXPECT_TRUE(can_elicit(json::parse(R"({"elicitation":{}})").as_object()));
  EXPECT_FALSE(can_elicit(json::parse(R"({"elicitation":{"url":{}}})").as_object()));
  EXPECT_FALSE(can_elicit({}));
}

}  // namespace
}  // namespace cordon::mcp::server
