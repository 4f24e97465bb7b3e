// SPDX-License-Identifier: Apache-2.0
// Where images are kept: names/NAME, layers/HEX/ with `tree` and `about`, and roots/HEX/ or
// roots/HEX.erofs, each whole or not there. A layer is kept once, however many images have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/image.h"
#include "image/unpacker.h"
#include "os/fd.h"

namespace cordon::image {

class Store {
 public:
  // Makes what is missing. Others may read names, its owner alone writes.
  static Result<Store> make(const std::string& directory);
  // To look. `not_found`: there is none.
  static Result<Store> open(const std::string& directory);

  // By name. One that cannot be read is an error.
  Result<std::vector<Image>> list() const;
  // `not_found`: there is none of that name.
  Result<Image> find(std::string_view name) const;
  // What is known of a layer that is here; nothing: it is not.
  std::optional<UnpackedLayer> layer(std::string_view digest) const;
  // Where its root is: a directory, or a file with an EROFS in it.
  std::string root_of(const Image& image) const;

  // From here on who changes the store is alone with it, until this goes.
  Result<os::Fd> lock() const;

  // These under the lock.

  // Unpacks what is not there yet. Where `digest` is not empty it has to be that of the bytes.
  Result<UnpackedLayer> add_layer(const os::Fd& layer, std::string_view digest,
                                  const Unpacker& unpacker) const;
  // Makes the root of an image whose layers are here, where it is not there, and gives it its name.
  // Sets its form and its root's digest.
  Result<Image> add(Image image) const;
  // Then all that no image has any more. `not_found`: there is none of that name.
  Status remove(std::string_view name) const;

 private:
  Store(std::string path, os::Fd top) : path_{std::move(path)}, top_{std::move(top)} {}
  Status make_root(Image& image) const;
  Status sweep() const;

  std::string path_;
  os::Fd top_;
};

// While somebody holds it, the directory that is a root stays as it is.
Result<os::Fd> hold(const std::string& root);

}  // namespace cordon::image
