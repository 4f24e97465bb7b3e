// SPDX-License-Identifier: Apache-2.0
// What a notary must never forget: the tree that it has signed, so that it signs nothing which does
// not continue it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/tree_range.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::notary {

struct SignedState {
  std::string log;                    // the id of the log that is being signed; empty: none yet
  audit::TreeRange tree{};            // of it: all that was signed
  std::vector<std::string> closed{};  // ids of those before it, of which nothing is signed any more
  friend bool operator==(const SignedState&, const SignedState&) = default;
};

// No notary signs more logs than this and one.
inline constexpr std::size_t kMostClosed = 128;

// A file with two places, written in turns: who dies in one leaves the other.
class StateFile {
 public:
  // `file` is open for reading and writing; an empty one is new. `denied`: neither place holds what
  // was written there.
  static Result<StateFile> open(os::Fd file);

  const SignedState& state() const noexcept { return state_; }
  // On the disk when this returns.
  Status write(SignedState next);

 private:
  explicit StateFile(os::Fd file) : file_{std::move(file)} {}
  os::Fd file_;
  std::uint64_t version_ = 0;  // of what was written last
  SignedState state_;
};

}  // namespace cordon::notary
