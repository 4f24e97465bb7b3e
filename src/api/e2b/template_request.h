// SPDX-License-Identifier: Apache-2.0
// Templates as clients of this face ask for them: what they are called, and how they are built.
// (pure)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cordon::api::e2b {

inline constexpr std::string_view kUsualTag = "default";
inline constexpr std::size_t kMostTags = 16;
inline constexpr std::size_t kMostSteps = 256;

// "name", "name:tag" or "team/name:tag", of which the team is for nobody: a key has one tenant.
struct TemplateName {
  std::string alias;
  std::string tag{kUsualTag};
  friend bool operator==(const TemplateName&, const TemplateName&) = default;
};
// `invalid`: it cannot be one. Aliases have a-z, 0-9, - and _; tags also . and capitals.
Result<TemplateName> read_template_name(std::string_view text);
// `invalid`: none, one that is no tag, or too many.
Result<std::vector<std::string>> read_tags(std::vector<std::string> tags);

struct NewTemplate {
  std::string alias;
  std::vector<std::string> tags;  // at least one
  std::uint64_t processors = 0;   // of its sandboxes; 0: it does not say
  std::uint64_t memory_megabytes = 0;
  friend bool operator==(const NewTemplate&, const NewTemplate&) = default;
};
Result<NewTemplate> read_new_template(std::string_view body);

// Tags of a build that is there, or to be taken from it.
struct TagRequest {
  TemplateName name;
  std::vector<std::string> tags;
};
// `name_field`: "target" of those that are given, "name" of those that are taken.
Result<TagRequest> read_tag_request(std::string_view body, std::string_view name_field);

enum class StepKind : std::uint8_t { env, workdir, user, run, copy };

struct BuildStep {
  StepKind kind = StepKind::run;
  std::vector<std::string> arguments;  // as many as its kind needs
  std::string files;                   // of a copy: the digest by which its files were sent
};

struct BuildOrder {
  std::string image;          // the name of an image; empty: the node's usual one
  std::string from_template;  // instead of an image
  std::vector<BuildStep> steps;
  std::string start;  // runs in every sandbox of it, from the beginning on
  std::string ready;  // ends well as soon as that has begun
};
// `invalid`: it asks for what is not known here, or for an image by credentials.
Result<BuildOrder> read_build_order(std::string_view body);

// What an image of others' is called here: "debian-12" for "debian:12". Empty: the usual one.
std::string local_image(std::string_view reference);

// 64 small hexadecimal digits.
bool is_files_digest(std::string_view text) noexcept;

}  // namespace cordon::api::e2b
