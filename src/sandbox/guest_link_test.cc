// SPDX-License-Identifier: Apache-2.0
// The first word of a guest, and how long it is waited for.
#include "sandbox/guest_link.h"

#include "sandbox/fake_guest_test.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;

class FirstWord : public LinkToAFake {
 protected:
  bool ends_within(std::chrono::milliseconds limit) {
    return run_until([this] { return !link_->copy_stream(); }, limit);
  }
};

TEST_F(FirstWord, IsNotWaitedForForEver) {
  open(Origin::launched, 20ms);
  const auto event = begin(link_->processes().next(link_->processes().start({})));
  ASSERT_TRUE(comes(event));
  ASSERT_FALSE(**event);
  EXPECT_EQ((*event)->error().code(), Errc::timeout);
  const std::string& said = (*event)->error().text();
  for (const char* part : {"was launched", "nothing within 0.02 s", "try again", "cordon doctor"}) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
  EXPECT_TRUE(ends_within(0ms));
}

TEST_F(FirstWord, OfAGuestIsEnough) {
  open(Origin::launched, 50ms);
  say(frame::Hello{frame::kGuestVersion});
  EXPECT_FALSE(ends_within(150ms));
}

TEST_F(FirstWord, IsAHelloAndNothingElse) {
  open(Origin::launched, 20ms);
  const auto usage = begin(link_->usage());
  ASSERT_TRUE(run_until([&] { return !heard_of<frame::AskUsage>().empty(); }));
  say(frame::Usage{.request = heard_of<frame::AskUsage>().back().request});
  EXPECT_TRUE(comes(usage));
  EXPECT_TRUE(ends_within(1000ms));
}

// It may stand still: whoever had it before us may have frozen it.
TEST_F(FirstWord, OfAGuestThatWasFetchedHasNoTime) {
  open(Origin::fetched, 20ms);
  EXPECT_FALSE(ends_within(100ms));
}

}  // namespace
}  // namespace cordon::sandbox
