// SPDX-License-Identifier: Apache-2.0
// A secret is found in every form, however the bytes are cut; and nothing else is.
#include "egress/secret_scan.h"

#include <ctime>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "egress/encodings_test.h"
#include "frame/placeholder.h"

namespace cordon::egress {
namespace {

const std::string kSecret = "ghs/tues+day~%sentinel-\\9f2c\"0";
const std::string kOther = "cordon-placeholder-00112233445566778899aabbccddeeff";

SentinelSet one(std::string_view value, std::string name = "github") {
  const Sentinel sentinel{std::move(name), as_bytes(value)};
  return SentinelSet{std::span{&sentinel, 1}};
}

std::string name_of(const std::optional<Finding>& finding) { return finding ? finding->name : ""; }

std::optional<Finding> scan(std::string_view text, const SentinelSet& set,
                            SecretScan::Keys keys = SecretScan::Keys::ignore) {
  const std::array<const SentinelSet*, 1> sets{&set};
  SecretScan one_scan{keys, sets};
  return one_scan.push(as_bytes(text));
}

TEST(SecretScan, FindsEveryFormAtEverySplit) {
  std::mt19937 dice{7};
  for (const std::string& secret : {kSecret, kOther, std::string{"12345678"}}) {
    const SentinelSet set = one(secret);
    const std::array<const SentinelSet*, 1> sets{&set};
    for (const Encoded& encoded : all_encodings(secret, dice)) {
      const std::string text = "{\"key\": \"" + encoded.text + "\", \"more\": 1}";
      for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        SecretScan both{SecretScan::Keys::ignore, sets};
        both.push(as_bytes(std::string_view{text}.substr(0, cut)));
        both.push(as_bytes(std::string_view{text}.substr(cut)));
        ASSERT_TRUE(both.finding()) << encoded.how << " cut at " << cut << ": " << text;
        ASSERT_EQ(name_of(both.finding()), "github");
      }
      SecretScan bytewise{SecretScan::Keys::ignore, sets};
      for (const char& c : text) bytewise.push(as_bytes(std::string_view{&c, 1}));
      EXPECT_TRUE(bytewise.finding()) << encoded.how;
    }
  }
}

// The bytes before must not hide it: they may be half of an escape or the beginning of the same.
TEST(SecretScan, IsNotLedAstrayByWhatStandsBefore) {
  std::mt19937 dice{8};
  const SentinelSet set = one(kOther);
  for (const Encoded& encoded : all_encodings(kOther, dice)) {
    for (const char* before : {"%", "%4", "\\u", "\\u0", "\\u00", "\\u004", "cordon-place",
                               "%63%6f", "Y29yZG9u", "636f72", "c", "%%", "\n", "=", "\xff"}) {
      // Behind an open JSON escape, or a digit, another reading would be as right.
      const bool digits_follow = std::string_view{before}.starts_with("\\u") ||
                                 std::isalnum(static_cast<unsigned char>(before[0])) != 0 ||
                                 std::string_view{before} == "%4" || before[0] == '%';
      const bool is_text =
          encoded.how.starts_with("base64") || encoded.how == "hex" || encoded.how == "HEX";
      if (digits_follow && is_text && encoded.how != "hex" && encoded.how != "HEX") {
        // Base64 shifts its groups by what stands before: only whole groups are base64 at all.
        if (std::string_view{before}.size() % 4 != 0) continue;
      }
      EXPECT_TRUE(scan(std::string{before} + encoded.text, set))
          << encoded.how << " after " << before;
    }
  }
}

TEST(SecretScan, TellsWhichAndInWhichForm) {
  const std::vector<Sentinel> two{{"first", as_bytes("alpha-secret")},
                                  {"second", as_bytes("omega-secret")}};
  const SentinelSet set{two};
  EXPECT_EQ(scan("x omega-secret", set), (Finding{Finding::Form::plain, "second"}));
  EXPECT_EQ(scan(base64_text("alpha-secret"), set), (Finding{Finding::Form::base64, "first"}));
  EXPECT_EQ(scan("616C7068612D736563726574", set), (Finding{Finding::Form::hex, "first"}));
  EXPECT_EQ(scan("alpha-secre", set), std::nullopt);
}

TEST(SecretScan, LooksForTwoSetsAtOnce) {
  const SentinelSet secret = one("of-the-request", "request");
  const std::array<const SentinelSet*, 2> sets{&any_placeholder(), &secret};
  SecretScan first{SecretScan::Keys::ignore, sets};
  EXPECT_EQ(name_of(first.push(as_bytes("a " + kOther))), "a placeholder");
  SecretScan second{SecretScan::Keys::ignore, sets};
  EXPECT_EQ(name_of(second.push(as_bytes("a of-the-request"))), "request");
  SecretScan none{SecretScan::Keys::ignore, sets};
  EXPECT_FALSE(none.push(as_bytes("a cordon placeholder")));
}

TEST(SecretScan, LeavesOutWhatIsTooShortToTell) {
  EXPECT_EQ(one("1234567").size(), 0U);
  EXPECT_FALSE(scan("1234567", one("1234567")));
  EXPECT_EQ(one("12345678").size(), 1U);
}

TEST(SecretScan, KnowsALongSecretByItsEnd) {
  std::mt19937 dice{11};
  std::string secret;
  for (int i = 0; i < 3000; ++i) secret += static_cast<char>('a' + dice() % 26);
  const SentinelSet set = one(secret);
  EXPECT_LT(set.memory(), 80U << 10U);
  EXPECT_TRUE(scan("x" + secret + "y", set));
  EXPECT_TRUE(scan(base64_text("x" + secret + "y"), set));
  EXPECT_FALSE(scan(secret.substr(0, secret.size() - 1), set));
}

TEST(SecretScan, FindsABlankThatAFormMadeAPlus) {
  EXPECT_TRUE(scan("a=user+name+pass", one("user name pass")));
  EXPECT_TRUE(scan("a=user%20name%20pass", one("user name pass")));
  EXPECT_FALSE(scan("a=user_name_pass", one("user name pass")));
}

TEST(SecretScan, FindsNothingInWhatHoldsNothing) {
  const SentinelSet set = one(kSecret);
  std::mt19937 dice{9};
  const std::array<const SentinelSet*, 2> sets{&any_placeholder(), &set};
  for (const std::string_view alphabet :
       {std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"},
        std::string_view{"0123456789abcdef"},
        std::string_view{"the quick brown fox %\\u0041{}\":,"}}) {
    SecretScan quiet{SecretScan::Keys::find, sets};
    std::string text(1 << 18, ' ');
    for (char& c : text) c = alphabet[dice() % alphabet.size()];
    EXPECT_FALSE(quiet.push(as_bytes(text))) << name_of(quiet.finding());
  }
  std::string noise(1 << 18, ' ');
  for (char& c : noise) c = static_cast<char>(dice());
  SecretScan quiet{SecretScan::Keys::find, sets};
  EXPECT_FALSE(quiet.push(as_bytes(noise)));
  // One letter less, or another, is not it.
  for (std::size_t i = 0; i < kSecret.size(); ++i) {
    std::string changed = kSecret;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(scan(changed, set)) << i;
  }
}

// Whoever passes on all but what is withheld has passed on no part that completes it.
TEST(SecretScan, WithholdsWhatMayBeTheBeginning) {
  std::mt19937 dice{10};
  const SentinelSet set = one(kSecret);
  const std::array<const SentinelSet*, 1> sets{&set};
  for (const Encoded& encoded : all_encodings(kSecret, dice)) {
    const std::string text = "some words before it: " + encoded.text;
    SecretScan passing{SecretScan::Keys::ignore, sets};
    std::size_t passed = 0;
    for (std::size_t i = 0; i < text.size() && !passing.finding(); ++i) {
      passing.push(as_bytes(std::string_view{text}.substr(i, 1)));
      if (!passing.finding()) passed = i + 1 - passing.withheld();
    }
    ASSERT_TRUE(passing.finding()) << encoded.how;
    // Base64 characters that others share are no part of what is looked for.
    const std::size_t first = text.size() - encoded.text.size();
    EXPECT_LE(passed, first + 4) << encoded.how;
  }
  SecretScan quiet{SecretScan::Keys::find, sets};
  quiet.push(as_bytes("nothing at all }\n"));
  EXPECT_EQ(quiet.withheld(), 0U);
}

TEST(KeyShapes, AreFoundByTheirShape) {
  const SentinelSet none{{}};
  const auto found = [&](const std::string& text) {
    const auto finding = scan(text, none, SecretScan::Keys::find);
    return finding ? finding->name : std::string{};
  };
  const std::string key =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const KeyShape& shape : key_shapes()) {
    std::string whole;
    for (const KeyPart& part : shape.parts) {
      whole += std::string{part.text} + key.substr(0, part.least);
    }
    EXPECT_EQ(found("a " + whole), shape.name);
    EXPECT_EQ(found(whole + " b"), shape.name);
    EXPECT_EQ(found(each(whole, [](unsigned c) { return fmt::format("%{:02x}", c); })), shape.name);
    // Behind an escape a word begins, whatever letter the escape is written with.
    for (const char* before : {"\\n", "word\\n", "\\\"", "x\\t", "\\u000a", "a%0A", "%20"}) {
      EXPECT_EQ(found(before + whole), shape.name) << before;
    }
    EXPECT_EQ(found(whole.substr(0, whole.size() - 1) + " b"), "") << "one less: " << shape.name;
    if (shape.begins_a_word) EXPECT_EQ(found("x" + whole), "") << shape.name;
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
      const std::array<const SentinelSet*, 1> sets{&none};
      SecretScan split{SecretScan::Keys::find, sets};
      split.push(as_bytes(std::string_view{whole}.substr(0, cut)));
      split.push(as_bytes(std::string_view{whole}.substr(cut)));
      ASSERT_TRUE(split.finding()) << shape.name << " cut at " << cut;
    }
  }
  EXPECT_EQ(found("eyJ0123456789.eyJ0123456789.01234567890123456789"), "a JSON web token");
  EXPECT_EQ(found("eyJ0123456789.xyz0123456789.01234567890123456789"), "");
  EXPECT_EQ(found("a task-force0123456789012345678901234567890123456789"), "");
  EXPECT_EQ(scan("ghp_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", none), std::nullopt)
      << "not asked for";
}

// The first texts are told apart by their ends: no table row hides another.
TEST(KeyShapes, NoFirstTextEndsWithAnother) {
  for (const KeyShape& a : key_shapes()) {
    EXPECT_FALSE(a.parts[0].text.empty());
    for (const KeyShape& b : key_shapes()) {
      if (&a != &b) EXPECT_FALSE(a.parts[0].text.ends_with(b.parts[0].text)) << a.name;
    }
  }
}

TEST(SecretScan, TellsItsSpeed) {
  const SentinelSet secret = one(kSecret);
  const std::array<const SentinelSet*, 2> sets{&any_placeholder(), &secret};
  const std::string_view line =
      "{\"id\": 12345, \"title\": \"A sentence of a model\\nwith \\\"quotes\\\" and code() { "
      "}\"}, ";
  std::string text;
  while (text.size() < (1U << 20U)) text += line;
  // Of processor time: others may use the machine.
  const auto seconds = [from = std::clock()] {
    return static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
  };
  SecretScan scanning{SecretScan::Keys::find, sets};
  for (std::size_t at = 0; at < text.size(); at += 16384) {
    ASSERT_FALSE(scanning.push(as_bytes(std::string_view{text}.substr(at, 16384))));
  }
  const double scanned = seconds();
  constexpr int kTimes = 20;
  for (int i = 0; i < kTimes; ++i) static_cast<void>(one(kSecret).memory());
  const double made = (seconds() - scanned) / kTimes;
  std::cout << "scanned " << static_cast<double>(text.size()) / 1e6 / scanned
            << " MB/s of JSON; a set of one secret: " << secret.memory() << " bytes, made in "
            << made * 1e6 << " us\n";
}

}  // namespace
}  // namespace cordon::egress
