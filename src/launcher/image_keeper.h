// SPDX-License-Identifier: Apache-2.0
// cordon-keeper as its launcher holds it: started for a node that has built an image, with the
// store that the floor names.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

class ImageKeeper {
 public:
  // `store`: a directory; empty: nothing is added to any.
  explicit ImageKeeper(std::string store) : store_{std::move(store)} {}

  // Gives the node's link (frame/keeper.h) to a new one; an earlier one has ended.
  Result<os::Fd> open();

 private:
  std::string store_;
  std::optional<os::Child> child_;
};

}  // namespace cordon::launcher
