// SPDX-License-Identifier: Apache-2.0
#include "relay/protobuf.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::relay {
namespace {

using std::string_view_literals::operator""sv;

// "number=value" or "number:bytes" for each field; "!" where it is no message any more.
std::string read_all(std::string_view message) {
  ProtobufReader reader{as_bytes(message)};
  std::string text;
  while (true) {
    const auto next = reader.next();
    if (!next) return text + "!";
    const auto& field = *next;
    if (!field) return text;
    text += std::to_string(field->number);
    text += field->has_bytes ? ":" + std::string{as_text(field->bytes)}
                             : "=" + std::to_string(field->value);
    text += ' ';
  }
}

TEST(Protobuf, ReadsEachKindOfField) {
  EXPECT_EQ(read_all("\x08\x96\x01"sv), "1=150 ");
  EXPECT_EQ(read_all("\x12\x03"
                     "abc\x18\x07"sv),
            "2:abc 3=7 ");
  EXPECT_EQ(read_all("\x29\x01\x00\x00\x00\x00\x00\x00\x80\x35\x02\x00\x00\x00"sv),
            "5=9223372036854775809 6=2 ");
  EXPECT_EQ(read_all("\x12\x00"sv), "2: ");
  EXPECT_EQ(read_all(""sv), "");
}

TEST(Protobuf, ReadsNumbersUpTo64BitsAndNoFurther) {
  EXPECT_EQ(read_all("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv), "1=18446744073709551615 ");
  EXPECT_EQ(read_all("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv), "!");
  EXPECT_EQ(read_all("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"sv), "!");
}

TEST(Protobuf, NeverReadsPastTheEnd) {
  for (const std::string_view cut : {"\x08"sv, "\x08\x80"sv, "\x12"sv,
                                     "\x12\x04"
                                     "abc"sv,
                                     "\x29\x00\x00"sv, "\x35\x00\x00\x00"sv,
                                     "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"sv, "\x80"sv}) {
    EXPECT_EQ(read_all(cut), "!");
  }
}

TEST(Protobuf, RefusesGroupsAndFieldsWithoutANumber) {
  for (const std::string_view none : {"\x0b"sv, "\x0c"sv, "\x0e\x00"sv, "\x0f\x00"sv, "\x00\x00"sv,
                                      "\x80\x80\x80\x80\x10\x00"sv}) {
    EXPECT_EQ(read_all(none), "!");
  }
}

}  // namespace
}  // namespace cordon::relay
