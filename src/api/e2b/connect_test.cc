// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/connect.h"

#include <string>

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

using std::string_literals::operator""s;

TEST(Connect, PutsFlagsAndTheLengthInFront) {
  EXPECT_EQ(message_envelope(R"({"event":{}})"), "\0\0\0\0\x0c"s + R"({"event":{}})");
  EXPECT_EQ(end_envelope(), "\2\0\0\0\2{}"s);
  EXPECT_EQ(message_envelope(std::string(70'000, 'x')).substr(0, 6), "\0\0\1\x11\x70x"s);
}

TEST(Connect, EndsAStreamWithWhatWentWrong) {
  const std::string json = R"({"error":{"code":"not_found","message":"no \"x\""}})";
  EXPECT_EQ(end_envelope({ConnectCode::not_found, "no \"x\""}),
            "\2\0\0\0"s + static_cast<char>(json.size()) + json);
}

TEST(Connect, HasANameAndAStatusForEveryCode) {
  EXPECT_EQ(to_string(ConnectCode::canceled), "canceled");
  EXPECT_EQ(to_string(ConnectCode::unauthenticated), "unauthenticated");
  EXPECT_EQ(status_of(ConnectCode::unauthenticated), 401);
  EXPECT_EQ(status_of(ConnectCode::resource_exhausted), 429);
  EXPECT_EQ(to_json({ConnectCode::internal, "x"}), R"({"code":"internal","message":"x"})");
  EXPECT_EQ(connect_error(Error{Errc::exists, "d"}).code, ConnectCode::already_exists);
}

TEST(Connect, TakesOneEnvelopeAndNothingElse) {
  const std::string one = message_envelope("{}");
  ASSERT_TRUE(only_message(one));
  EXPECT_EQ(*only_message(one), "{}");
  EXPECT_EQ(*only_message("\0\0\0\0\0"s), "");
  for (const std::string& body :
       {""s, "\0\0\0\0"s, one + "x", one.substr(0, one.size() - 1), one + one, "\1\0\0\0\2{}"s,
        "\2\0\0\0\2{}"s, "\0\xff\xff\xff\xff{}"s}) {
    const auto got = only_message(body);
    ASSERT_FALSE(got) << body.size();
    EXPECT_EQ(got.error().code(), Errc::invalid);
  }
}

}  // namespace
}  // namespace cordon::api::e2b
