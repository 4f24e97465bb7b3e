// SPDX-License-Identifier: Apache-2.0
#include "node/image_roots.h"

#include <set>

#include "image/store.h"
#include "node/templates.h"
#include "policy/checked.h"

namespace cordon::node {
namespace {

std::set<std::string> names_of(const policy::Policy& policy, const std::string& usual) {
  std::set<std::string> names;
  if (!usual.empty()) names.insert(usual);
  for (const auto& checked : policy.documents()) {
    const auto& root = checked->document().filesystem.root;
    if (root && root->value.kind == policy::RootKind::image) names.insert(root->value.name);
  }
  return names;
}

}  // namespace

Status add_images(const std::string& store, const policy::Policy& policy, const std::string& usual,
                  plan::Situation& situation) {
  const std::set<std::string> names = names_of(policy, usual);
  if (names.empty() || store.empty()) return {};
  auto opened = image::Store::open(store);
  if (!opened && opened.error().code() == Errc::not_found) return {};
  if (!opened) return std::move(opened).error();
  for (const std::string& name : names) {
    if (situation.images.contains(name)) continue;
    auto image = opened->find(name);
    if (!image && image.error().code() == Errc::not_found) continue;
    if (!image) return std::move(image).error();
    const auto built = template_from(*image);
    // Of another tenant it is as if there were none.
    if (built && !situation.tenant.empty() && built->owner != situation.tenant) continue;
    situation.images.emplace(name, plan::ImageRoot{.path = opened->root_of(*image),
                                                   .digest = image->digest,
                                                   .file = image->file,
                                                   .environment = image->config.environment,
                                                   .has_layer = built.has_value()});
  }
  return {};
}

Result<os::Fd> hold_image_root(const frame::LaunchPlan& plan, const plan::Situation& situation) {
  if (plan.root != frame::RootSource::directory) return os::Fd{};
  for (const auto& [name, image] : situation.images) {
    if (image.path == plan.root_path && !image.digest.empty()) return image::hold(image.path);
  }
  return os::Fd{};
}

}  // namespace cordon::node
