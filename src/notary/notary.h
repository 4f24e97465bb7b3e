// SPDX-License-Identifier: Apache-2.0
// Signs heads of audit logs: of each log only what continues what it has signed of it.
#pragma once

#include <string>

#include "audit/head.h"
#include "base/clock.h"
#include "base/result.h"
#include "frame/notary.h"
#include "notary/ed25519.h"
#include "notary/signed_state.h"
#include "os/fd.h"

namespace cordon::notary {

// Who writes a log may be taken over and ask for anything: so a head is made only here, of what was
// signed before and of what is added. There is no way to a second head of the same size with
// another root, nor back to a log once another was begun.
class Notary {
 public:
  // `anchor`: the file of heads that only the notary writes. `clock` outlives it.
  Notary(SigningKey key, StateFile state, os::Fd anchor, const Clock& clock)
      : key_{std::move(key)}, state_{std::move(state)}, anchor_{std::move(anchor)}, clock_{clock} {}

  frame::NotaryReady ready() const;
  // Signed and anchored, both on the disk. `denied`: it does not continue what was signed.
  Result<audit::Head> sign(const frame::SignHead& wanted);

 private:
  Result<SignedState> next_state(const frame::SignHead& wanted) const;

  SigningKey key_;
  StateFile state_;
  os::Fd anchor_;
  const Clock& clock_;
};

}  // namespace cordon::notary
