// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/multipart.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

constexpr std::string_view kType = "multipart/form-data; boundary=----b1";

struct File {
  std::string name;
  std::string file_name;
  std::string bytes;
  friend bool operator==(const File&, const File&) = default;
};

// All parts, or "invalid", by pieces of that many bytes.
std::string read(std::string_view body, std::size_t piece, std::vector<File>& files,
                 std::string_view type = kType) {
  auto form = Multipart::of_type(type);
  if (!form) return "no form";
  while (!body.empty()) {
    form->push(body.substr(0, piece));
    body.remove_prefix(std::min(piece, body.size()));
    for (;;) {
      auto taken = form->next();
      if (!taken) return "invalid";
      Multipart::Next event = *std::move(taken);
      if (!event) break;
      if (auto* const part = std::get_if<Multipart::Part>(&*event)) {
        files.push_back({part->name, part->file_name.value_or("-"), {}});
      } else if (auto* const data = std::get_if<Multipart::Data>(&*event)) {
        if (files.empty() || data->bytes.empty()) return "data of nothing";
        files.back().bytes += data->bytes;
      } else {
        files.back().bytes += "|";
      }
    }
  }
  return form->is_over() ? "over" : "cut";
}

std::string part(std::string_view disposition, std::string_view bytes) {
  return "------b1\r\nContent-Disposition: " + std::string{disposition} +
         "\r\nContent-Type: application/octet-stream\r\n\r\n" + std::string{bytes} + "\r\n";
}

constexpr std::string_view kEnd = "------b1--\r\n";

TEST(Multipart, GivesFilesHoweverTheyAreCut) {
  const std::string tricky = "\r\n------b\r\n--\r\n------b2\r";
  const std::string body =
      part(R"(form-data; name="file"; filename="/home/user/a b.txt")", "hello") +
      part(R"(form-data; name="file"; filename="d/%22%0D%0A%41é\")", tricky) +
      part(R"(form-data; name="other")", "") + std::string{kEnd};
  const std::vector<File> wanted = {{"file", "/home/user/a b.txt", "hello|"},
                                    {"file", "d/\"\r\n%41é\\", tricky + "|"},
                                    {"other", "-", "|"}};
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    std::vector<File> files;
    ASSERT_EQ(read(body, piece, files), "over") << piece;
    ASSERT_EQ(files, wanted) << piece;
  }
}

TEST(Multipart, HoldsNoMoreThanAPiece) {
  auto form = Multipart::of_type(kType);
  ASSERT_TRUE(form);
  form->push("------b1\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n");
  const auto first = form->next();
  ASSERT_TRUE(first && *first);
  std::size_t given = 0;
  for (int i = 0; i < 100; ++i) {
    form->push(std::string(1000, 'x'));
    for (;;) {
      auto taken = form->next();
      ASSERT_TRUE(taken);
      const Multipart::Next event = *std::move(taken);
      if (!event) break;
      if (const auto* const data = std::get_if<Multipart::Data>(&*event)) {
        given += data->bytes.size();
      }
    }
    ASSERT_GE(given + 100, static_cast<std::size_t>(i + 1) * 1000);
  }
}

TEST(Multipart, TakesNothingThatCouldBeReadInTwoWays) {
  const std::string good = part(R"(form-data; name="file"; filename="x")", "1");
  const std::string end{kEnd};
  std::vector<File> files;
  EXPECT_EQ(read(good, 7, files), "cut");
  const std::vector<std::string> bad = {
      "text in front\r\n" + good + end,
      "\r\n" + good + end,
      good + end + "more",
      "------b1 \r\n\r\n" + end,
      part(R"(form-data; name="a"; name="b")", "1") + end,
      part(R"(form-data; name="a"; filename="b"; filename="c")", "1") + end,
      part(R"(form-data; filename="b")", "1") + end,
      part(R"(form-data; name="a)", "1") + end,
      part(R"(attachment; name="a")", "1") + end,
      part("form-data; name=\"a\"\r\nContent-Disposition: form-data; name=\"b\"", "1") + end,
      "------b1\r\nno colon\r\n\r\n1\r\n" + end,
      "------b1\r\nX: " + std::string(9000, 'x') + "\r\n\r\n1\r\n" + end};
  for (const std::string& body : bad) {
    EXPECT_EQ(read(body, 16, files), "invalid") << body.substr(0, 90);
  }
}

TEST(Multipart, KnowsItsBoundaryByTheType) {
  std::vector<File> files;
  const std::string body = part(R"(form-data; name="file")", "1") + std::string{kEnd};
  EXPECT_EQ(read(body, 9, files, "Multipart/Form-Data;charset=utf-8; Boundary=\"----b1\""), "over");
  for (const char* type :
       {"", "application/json", "multipart/form-data", "multipart/form-data; boundary=",
        "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=\"a",
        "multipart/form-data; boundary=\"a b\"", "multipart/mixed; boundary=a"}) {
    EXPECT_FALSE(Multipart::of_type(type)) << type;
  }
  EXPECT_FALSE(Multipart::of_type("multipart/form-data; boundary=" + std::string(71, 'a')));
}

}  // namespace
}  // namespace cordon::api::e2b
