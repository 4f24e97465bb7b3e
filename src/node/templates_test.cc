// SPDX-License-Identifier: Apache-2.0
#include "node/templates.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

Template a_template() {
  return {.owner = "abc",
          .alias = "my-tpl",
          .tags = {"default", "v1.0"},
          .build = "b-1",
          .processors = 2,
          .memory_megabytes = 512};
}

TEST(Templates, AreFoundAgainByWhatTheirImageSays) {
  const Template made = a_template();
  const image::Image image{.name = image_name_of(made.build), .source = source_of(made)};
  const Template found = template_from(image).value_or(Template{});
  EXPECT_EQ(found.owner, made.owner);
  EXPECT_EQ(found.alias, made.alias);
  EXPECT_EQ(found.tags, made.tags);
  EXPECT_EQ(found.build, made.build);
  EXPECT_EQ(found.processors, made.processors);
  EXPECT_EQ(found.memory_megabytes, made.memory_megabytes);
}

TEST(Templates, AreNoImagesOfTheOperator) {
  const std::string source = source_of(a_template());
  EXPECT_FALSE(template_from({.name = "debian-12", .source = source}));
  EXPECT_FALSE(template_from({.name = "node.b-1", .source = "docker://127.0.0.1/x"}));
  EXPECT_FALSE(template_from({.name = "node.b-1", .source = "template:abc"}));
}

TEST(Templates, AreKeptWithoutTagsToo) {
  Template half = a_template();
  half.tags.clear();
  const auto found = template_from({.name = image_name_of(half.build), .source = source_of(half)});
  EXPECT_EQ(found.value_or(a_template()).tags, std::vector<std::string>{});
}

TEST(Templates, OfOneNameHaveOneIdForEachTenant) {
  EXPECT_EQ(a_template().id(), template_id("abc", "my-tpl"));
  EXPECT_NE(template_id("abc", "my-tpl"), template_id("abd", "my-tpl"));
  EXPECT_NE(template_id("abc", "my-tpl"), template_id("abc", "my-tpl2"));
}

TEST(Templates, ThereAreNoneWhereThereIsNoStore) {
  const auto none = templates_in("", "abc");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  const auto absent = templates_in("/nonexistent/store", "abc");
  ASSERT_TRUE(absent);
  EXPECT_TRUE(absent->empty());
}

}  // namespace
}  // namespace cordon::node
