// SPDX-License-Identifier: Apache-2.0
// cordon-notary as its launcher holds it: started under an id of its own, with the files that only
// root can open.
#pragma once

#include <optional>

#include "base/result.h"
#include "launcher/identity.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

class NotaryKeeper {
 public:
  // `directory`: of the notary's files, ours alone; empty: there is no notary.
  explicit NotaryKeeper(os::Fd directory) : directory_{std::move(directory)} {}

  // Gives the node's link (frame/notary.h) to a new one; an earlier one has ended. `ranges`: where
  // it gets an id from; nullptr: it is the launcher's own.
  Result<os::Fd> open(RangeLender* ranges);

 private:
  os::Fd directory_;
  std::optional<LentRange> range_;
  std::optional<os::Child> child_;
};

}  // namespace cordon::launcher
