// SPDX-License-Identifier: Apache-2.0
// Images that tenants have had built on this node, each known by a name and tags of its tenant's
// choosing. The store of images is all that knows of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "base/result.h"
#include "image/image.h"
#include "node/image_keeper.h"

namespace cordon::node {

struct Template {
  std::string owner;  // the tenant, as the launcher knows it
  std::string alias;
  std::vector<std::string> tags;
  std::string build;             // which one it is
  std::uint64_t processors = 0;  // of its sandboxes; 0: as usual
  std::uint64_t memory_megabytes = 0;
  image::Image image{};  // its root, and what was asked to run in it

  // What all builds of this name have in common.
  std::string id() const;
};

// Of an alias of a tenant, whether there is such a template or not.
std::string template_id(std::string_view owner, std::string_view alias);
// The image's name and source, by which it is found again.
std::string image_name_of(std::string_view build);
std::string source_of(const Template& known);
// Nothing: the image is none of a tenant's.
std::optional<Template> template_from(const image::Image& image);

// All of `owner`, or of everybody where that is empty. A store that is not there has none.
Result<std::vector<Template>> templates_in(const std::string& store, std::string_view owner);
// By alias, or by id. Nothing: there is none with that tag.
Result<std::optional<Template>> find_template(const std::string& store, std::string_view owner,
                                              std::string_view name, std::string_view tag);

// The variables that an image of the store asks for; of any other none are known.
std::vector<std::string> environment_of(const std::string& store, std::string_view image);

// Keeps it under its tags; without any it is no more.
async::Task<void> set_tags(ImageKeeper& keeper, Template known);

}  // namespace cordon::node
