// SPDX-License-Identifier: Apache-2.0
#include "notary/own_notary.h"

#include <array>
#include <fcntl.h>

#include "base/wiped.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/key_file.h"
#include "os/positioned_file.h"

namespace cordon::notary {

Result<Notary> open_notary(NotaryFiles files, const Clock& clock) {
  std::array<std::byte, kSeedSize> seed{};
  TRY_DO(os::read_at(files.key, 0, seed));
  auto key = SigningKey::from(seed);
  wipe(seed);
  if (!key) return std::move(key).error();
  TRY(StateFile state, StateFile::open(std::move(files.state)));
  return Notary{*std::move(key), std::move(state), std::move(files.anchor), clock};
}

Result<OwnNotary> OwnNotary::open(const os::Fd& directory, const Clock& clock) {
  TRY(os::Fd turn, os::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  TRY_DO(os::wait_flock(turn, os::Lock::exclusive));
  NotaryFiles files;
  TRY(files.key, os::open_key_file(directory, "key", kSeedSize));
  TRY(files.state, os::open_kept_file(directory, "signed"));
  TRY(files.anchor, os::open_kept_file(directory, "heads"));
  TRY(Notary notary, open_notary(std::move(files), clock));
  return OwnNotary{std::move(turn), std::move(notary)};
}

}  // namespace cordon::notary
