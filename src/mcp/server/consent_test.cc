// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/consent.h"

#include <gtest/gtest.h>

namespace cordon::mcp::server {
namespace {

class ConsentTest : public ::testing::Test {
 protected:
  static token::Secret key(unsigned char fill) {
    Digest bytes;
    bytes.fill(std::byte{fill});
    return token::Secret{bytes};
  }
  static Consents::Nonce nonce(unsigned char fill) {
    Consents::Nonce bytes;
    bytes.fill(std::byte{fill});
    return bytes;
  }
  Consents consents_{key(1)};
  Ticks now_{};
};

TEST_F(ConsentTest, HoldsOnceForTheQuestionThatWasAsked) {
  const std::string state = consents_.ask(nonce(1), "apply this", now_);
  EXPECT_TRUE(consents_.take(state, "apply this", now_));
  EXPECT_FALSE(consents_.take(state, "apply this", now_)) << "it was used";
}

TEST_F(ConsentTest, DoesNotHoldForAnotherQuestion) {
  const std::string state = consents_.ask(nonce(1), "apply this", now_);
  EXPECT_FALSE(consents_.take(state, "apply that", now_));
  EXPECT_TRUE(consents_.take(state, "apply this", now_)) << "the wrong one uses up nothing";
}

TEST_F(ConsentTest, CannotBeMadeByOthers) {
  Consents other{key(2)};
  EXPECT_FALSE(consents_.take(other.ask(nonce(1), "q", now_), "q", now_));
  for (const char* const text : {"", ".", "a.b", "00.", "x"}) {
    EXPECT_FALSE(consents_.take(text, "q", now_)) << text;
  }
  std::string state = consents_.ask(nonce(3), "q", now_);
  state.back() = state.back() == '0' ? '1' : '0';
  EXPECT_FALSE(consents_.take(state, "q", now_));
}

TEST_F(ConsentTest, GrowsOld) {
  const std::string state = consents_.ask(nonce(1), "q", now_);
  EXPECT_FALSE(consents_.take(state, "q", now_ + Consents::kLongest));
}

TEST_F(ConsentTest, KeepsTheNewestWhereTooManyAreOpen) {
  const std::string first = consents_.ask(nonce(255), "q", now_);
  for (unsigned char at = 0; at < Consents::kMost; ++at) {
    now_ += std::chrono::milliseconds{1};
    static_cast<void>(consents_.ask(nonce(at), "q", now_));
  }
  EXPECT_FALSE(consents_.take(first, "q", now_));
}

}  // namespace
}  // namespace cordon::mcp::server
