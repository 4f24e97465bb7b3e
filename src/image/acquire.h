// SPDX-License-Identifier: Apache-2.0
// Images into a store: from wherever they are, from a tree of this host, or built from Debian's
// packages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/image.h"
#include "image/store.h"
#include "image/unpacker.h"

namespace cordon::image {

// `source`: as skopeo spells it. Layers that are here already are not unpacked again.
Result<Image> pull(const Store& store, const std::string& name, const std::string& source,
                   const Unpacker& unpacker);

// An image of one layer, which is in the store: `about` is its name, its source and its
// configuration. Under the store's lock.
Result<Image> add_alone(const Store& store, Image about, const UnpackedLayer& layer);

// `path`: a directory, or a tar as it is or under gzip or zstd.
Result<Image> import_tree(const Store& store, const std::string& name, const std::string& path,
                          const Unpacker& unpacker);

// What is built, and of which packages beside those that Debian cannot be without.
struct Recipe {
  std::string_view name;  // of the recipe, and of the image where no other is asked for
  std::string_view words;
  std::vector<std::string> packages;
};
std::span<const Recipe> recipes();

// By mmdebstrap, from the package sources that this host has; `packages` beside the recipe's own.
Result<Image> build(const Store& store, const std::string& name, const Recipe& recipe,
                    const std::vector<std::string>& packages, const Unpacker& unpacker);

}  // namespace cordon::image
