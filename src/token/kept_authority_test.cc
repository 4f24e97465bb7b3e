// SPDX-License-Identifier: Apache-2.0
#include "token/kept_authority.h"

#include "token/tokens_test.h"

namespace cordon::token {
namespace {

Authority authority_of(const std::string& text) { return *try_at_node(text).authority; }

TEST(KeptAuthority, IsWhatItWas) {
  const std::string text =
      token_with({OperationIn{set_of({Operation::file_read, Operation::sandbox_read})},
                  SandboxIn{{sandbox("aaaa"), sandbox("bbbb")}}, PathBelow{"/workspace"},
                  BudgetOf{Quantity::processes, 9}, PolicyCeiling{R"({"version":1})"}});
  const Authority before = authority_of(text);
  const auto kept = write_kept(before);
  ASSERT_TRUE(kept);
  const auto after = read_kept(*kept);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->is_operator(), before.is_operator());
  EXPECT_EQ(after->tenant(), before.tenant());
  EXPECT_EQ(after->operations(), before.operations());
  EXPECT_EQ(after->sandboxes(), before.sandboxes());
  EXPECT_EQ(after->paths(), before.paths());
  EXPECT_EQ(after->allowances(), before.allowances());
  EXPECT_EQ(after->expires(), before.expires());
  EXPECT_EQ(after->has_ceiling(), before.has_ceiling());
  EXPECT_EQ(after->revocations(), before.revocations());
  EXPECT_EQ(*write_kept(*after), *kept);
}

// Whoever reads the journal cannot make a token of what is in it.
TEST(KeptAuthority, HasNothingOfTheToken) {
  const std::string text = token_with();
  const auto bytes = token_bytes(text);
  const auto layout = read_layout(*bytes);
  const auto kept = write_kept(authority_of(text));
  const auto found =
      std::search(kept->begin(), kept->end(), layout->tag.begin(), layout->tag.end());
  EXPECT_EQ(found, kept->end());
}

TEST(KeptAuthority, IsReadWholeOrNotAtAll) {
  const auto kept = write_kept(authority_of(token_with({PathBelow{"/a"}})));
  for (std::size_t size = 0; size < kept->size(); ++size) {
    EXPECT_FALSE(read_kept(Bytes{*kept}.first(size))) << size;
  }
  std::vector<std::byte> longer = *kept;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(read_kept(longer));
  std::vector<std::byte> other = *kept;
  other[0] = std::byte{2};
  EXPECT_FALSE(read_kept(other)) << "of another version";
}

TEST(KeptAuthority, OfNobodyIsNone) {
  const auto kept = write_kept(Authority{false});
  ASSERT_TRUE(kept);
  EXPECT_FALSE(read_kept(*kept));
  EXPECT_TRUE(read_kept(*write_kept(Authority{true})));
}

TEST(KeptAuthority, HasAsManyCaveatsAsATokenAndNoMore) {
  Authority authority = authority_of(token_with());
  while (authority.caveats().size() < kMostCaveats) {
    authority.narrow(PathBelow{"/a"}, RevocationId{});
  }
  EXPECT_TRUE(write_kept(authority));
  authority.narrow(PathBelow{"/a"}, RevocationId{});
  EXPECT_EQ(write_kept(authority).error().code(), Errc::exhausted);
}

}  // namespace
}  // namespace cordon::token
