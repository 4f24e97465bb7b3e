// SPDX-License-Identifier: Apache-2.0
// A notary from its files: as a service gives them, or in a directory of the caller's own.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "notary/notary.h"
#include "os/fd.h"

namespace cordon::notary {

struct NotaryFiles {
  os::Fd key;    // to be read
  os::Fd state;  // these to be read and written
  os::Fd anchor;
};

// `clock` outlives it.
Result<Notary> open_notary(NotaryFiles files, const Clock& clock);

// One process at a time; another waits.
class OwnNotary {
 public:
  // `directory`: the caller's alone. Its files are made where there are none.
  static Result<OwnNotary> open(const os::Fd& directory, const Clock& clock);

  Notary& notary() noexcept { return notary_; }

 private:
  OwnNotary(os::Fd turn, Notary notary) : turn_{std::move(turn)}, notary_{std::move(notary)} {}
  os::Fd turn_;
  Notary notary_;
};

}  // namespace cordon::notary
