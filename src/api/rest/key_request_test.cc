// SPDX-License-Identifier: Apache-2.0
#include "api/rest/key_request.h"

#include <gtest/gtest.h>

namespace cordon::api {
namespace {

constexpr std::chrono::sys_seconds kAsked{std::chrono::seconds{1'800'000'000}};

Result<KeyRequest> read(std::string_view text) {
  policy::Problems problems{"request"};
  return read_key_request(text, kAsked, problems);
}

TEST(KeyRequest, HasEveryKindOfCaveat) {
  const auto request = read(R"({"label": "ci", "caveats": [
      {"tenant": "acme"}, {"operation": ["file.read", "sandbox.read"]}, {"sandbox": ["aaaa"]},
      {"path": "/a"}, {"budget": {"processes": 5}}, {"ceiling": "{\"version\":1}"},
      {"expires": 1800000100}], "expires_in_seconds": 60})");
  ASSERT_TRUE(request) << request.error().text();
  EXPECT_EQ(request->label, "ci");
  EXPECT_FALSE(request->is_operator);
  EXPECT_EQ(request->caveats.size(), 8U);
  EXPECT_EQ(request->caveats.back(),
            token::Caveat{token::ExpiresAt{kAsked + std::chrono::minutes{1}}});
}

TEST(KeyRequest, ReadsWhatItWrites) {
  const auto request = read(R"({"caveats": [{"tenant": "acme"}, {"operation": []},
      {"sandbox": ["aaaa", "bbbb"]}, {"path": "/a \"b\""}, {"budget": {"processes": 5}},
      {"ceiling": "{\"version\":1}"}, {"expires": 1800000100}]})");
  ASSERT_TRUE(request);
  std::vector<token::Narrowed> caveats;
  for (const token::Caveat& each : request->caveats) caveats.push_back({each});
  wire::JsonWriter json;
  json.begin_object();
  json.key("caveats");
  write_caveats(json, caveats);
  json.end_object();
  const auto again = read(json.take());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->caveats, request->caveats);
}

TEST(KeyRequest, RefusesWhatIsNoneOrCouldMeanMore) {
  for (const char* text : {R"([])",
                           R"({"lable": "x"})",
                           R"({"caveats": {}})",
                           R"({"caveats": [{}]})",
                           R"({"caveats": ["x"]})",
                           R"({"caveats": [{"tenant": "a", "path": "/"}]})",
                           R"({"caveats": [{"operation": "file.read"}]})",
                           R"({"caveats": [{"operation": ["x"]}]})",
                           R"({"caveats": [{"tenant": "A"}]})",
                           R"({"caveats": [{"path": "a"}]})",
                           R"({"caveats": [{"path": "/a/../b"}]})",
                           R"({"caveats": [{"sandbox": [""]}]})",
                           R"({"caveats": [{"budget": {}}]})",
                           R"({"caveats": [{"budget": {"processes": -1}}]})",
                           R"({"caveats": [{"budget": {"x": 1}}]})",
                           R"({"caveats": [{"ceiling": "{\"x\":1}"}]})",
                           R"({"caveats": [{"expires": "tomorrow"}]})",
                           R"({"caveats": [{"nothing": 1}]})",
                           R"({"expires_in_seconds": 0})",
                           R"({"operator": 1})"}) {
    EXPECT_FALSE(read(text)) << text;
  }
  EXPECT_FALSE(read(R"({"label": ")" + std::string(129, 'x') + R"("})"));
  EXPECT_TRUE(read(R"({"label": ")" + std::string(128, 'x') + R"("})"));
}

}  // namespace
}  // namespace cordon::api
