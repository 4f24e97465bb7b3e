// SPDX-License-Identifier: Apache-2.0
// Skopeo, which brings an image from wherever it is into a layout of ours.
#pragma once

#include <string>

#include "base/result.h"

namespace cordon::image {

// A layout in a directory of its own, gone with this.
class FetchedLayout {
 public:
  // `source` as skopeo spells it: "oci:DIR[:TAG]", "docker-archive:FILE[:NAME]",
  // "docker://HOST/NAME". Root fetches as nobody: what it reads has to be readable by others.
  static Result<FetchedLayout> fetch(const std::string& source);
  FetchedLayout(FetchedLayout&& other) noexcept : path_{std::exchange(other.path_, {})} {}
  FetchedLayout& operator=(FetchedLayout&&) = delete;
  ~FetchedLayout();

  std::string path() const { return path_ + "/layout"; }

 private:
  explicit FetchedLayout(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

}  // namespace cordon::image
