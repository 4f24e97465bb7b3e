// SPDX-License-Identifier: Apache-2.0
#include "audit/query.h"

#include <gtest/gtest.h>

#include "audit/log_rig_test.h"

namespace cordon::audit {
namespace {

Record told_of(AuditEvent event) {
  return {.number = 7,
          .time = kTime,  // 2023-11-14T22:13:20.123
          .ticks = 1,
          .before = {},
          .subject = kSubject,
          .event = std::move(event),
          .cuts = {}};
}

const Record kRefused = told_of(ActRefused{{.code = "CORDON-NET-HOST",
                                            .tried = "connect evil.example:443",
                                            .rule = "default",
                                            .count = 3}});
const Record kUsed = told_of(NetworkUsed{
    .host = "api.example.net", .port = 443, .ended = true, .bytes_out = 5000, .bytes_in = 0});

bool accepts(const std::vector<std::string>& terms, const Record& record) {
  const auto query = Query::parse(terms);
  EXPECT_TRUE(query) << query.error().text();
  return query && query->accepts(record);
}

std::string refusal(const std::string& term) {
  const auto query = Query::parse({{term}});
  return query ? "accepted" : query.error().text();
}

TEST(Query, AcceptsWhatFulfilsEveryTerm) {
  EXPECT_TRUE(accepts({}, kRefused));
  EXPECT_TRUE(accepts({"event=act_refused"}, kRefused));
  EXPECT_FALSE(accepts({"event=act_refused"}, kUsed));
  EXPECT_TRUE(accepts({"event=act_refused", "code=CORDON-NET-*", "count>=3"}, kRefused));
  EXPECT_FALSE(accepts({"event=act_refused", "code=CORDON-FS-*"}, kRefused));
  EXPECT_TRUE(accepts({"event=sandbox_ended,act_refused"}, kRefused));
  EXPECT_TRUE(accepts({"tenant=acme", "sandbox=k7*", "seq=7"}, kRefused));
  EXPECT_TRUE(accepts({"tried=*evil*443"}, kRefused));
}

TEST(Query, ComparesNumbersAndTimes) {
  EXPECT_TRUE(accepts({"bytes_out>4999", "bytes_out<5001", "bytes_out<=5000"}, kUsed));
  EXPECT_FALSE(accepts({"bytes_out>5000"}, kUsed));
  EXPECT_FALSE(accepts({"bytes_out>0"}, kRefused));  // it has none
  EXPECT_TRUE(accepts({"time>=2023-11-14", "time<2023-11-15"}, kUsed));
  EXPECT_TRUE(accepts({"time>=2023-11-14T22:13:20", "time<2023-11-14T22:13:21Z"}, kUsed));
  EXPECT_FALSE(accepts({"time>2023-11-14T22:14"}, kUsed));
  EXPECT_TRUE(accepts({"time=1700000000123"}, kUsed));
}

TEST(Query, AcceptsWhatATermDoesNot) {
  EXPECT_TRUE(accepts({"host!=*.example.org"}, kUsed));
  EXPECT_FALSE(accepts({"host!=api.*"}, kUsed));
  EXPECT_TRUE(accepts({"!host=x"}, kRefused));  // it has no host
  EXPECT_FALSE(accepts({"!host!=x"}, kRefused));
  EXPECT_TRUE(accepts({"!bytes_out>9999"}, kUsed));
}

TEST(Query, FindsTheItemsOfLists) {
  SandboxStarted started;
  started.enforcement.mechanisms = {{.name = "seccomp", .hold = Hold::held},
                                    {.name = "landlock", .hold = Hold::absent}};
  EXPECT_TRUE(accepts({"mechanisms=landlock", "mechanisms=absent"}, told_of(started)));
  EXPECT_FALSE(accepts({"mechanisms=cgroup"}, told_of(started)));
}

TEST(Query, SaysWhatIsNoTerm) {
  EXPECT_NE(refusal("event").find("is no term"), std::string::npos);
  EXPECT_NE(refusal("=x").find("is no term"), std::string::npos);
  EXPECT_NE(refusal("evnt=x").find("is no field of a record; there are"), std::string::npos);
  EXPECT_NE(refusal("count>many").find("is no number"), std::string::npos);
  EXPECT_NE(refusal("time>2023-13-01").find("is no time"), std::string::npos);
  EXPECT_NE(refusal("time>2023-02-30").find("is no time"), std::string::npos);
  EXPECT_NE(refusal("time>2023-1-1").find("is no time"), std::string::npos);
  EXPECT_NE(refusal("time>2023-11-14T22").find("is no time"), std::string::npos);
  EXPECT_NE(refusal("count!3").find("an operator is"), std::string::npos);
  EXPECT_NE(refusal("x\x1b[2J=1").find("x?[2J"), std::string::npos);
  const std::vector<std::string> many(Query::kMostTerms + 1, "seq=1");
  EXPECT_FALSE(Query::parse(many));
  EXPECT_FALSE(Query::parse({{"seq=" + std::string(Query::kMostValues, ',')}}));
}

// A pattern of stars is decided in a moment, whatever it is held against.
TEST(Query, IsNotSlowedByAPattern) {
  std::string pattern = "tried=";
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  pattern += "*b";
  const Record long_one = told_of(ActRefused{{.code = "C", .tried = std::string(4096, 'a')}});
  EXPECT_FALSE(accepts({pattern}, long_one));
}

TEST(Query, KnowsEveryFieldThatARecordHas) {
  for (const Record& record : {kRefused, kUsed}) {
    for (const RecordField& field : fields_of(record)) {
      EXPECT_TRUE(Query::parse({{field.name + "=x"}})) << field.name;
    }
  }
}

}  // namespace
}  // namespace cordon::audit
