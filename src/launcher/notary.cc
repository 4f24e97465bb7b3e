// SPDX-License-Identifier: Apache-2.0
#include "launcher/notary.h"

#include <array>

#include "launcher/own_program.h"
#include "os/key_file.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kSeedBytes = 32;

}  // namespace

Result<os::Fd> NotaryKeeper::open(RangeLender* ranges) {
  if (!directory_) {
    return Error{Errc::unavailable, "the floor names no directory for it: notary = DIRECTORY"};
  }
  child_.reset();  // ends it: there is one at a time
  if (ranges != nullptr && !range_) {
    TRY(LentIds lent, ranges->take());
    range_.emplace(std::move(lent.range));
  }
  TRY(const os::Fd key, os::open_key_file(directory_, "key", kSeedBytes));
  TRY(const os::Fd state, os::open_kept_file(directory_, "signed"));
  TRY(const os::Fd anchor, os::open_kept_file(directory_, "heads"));
  TRY(os::SocketPair link, os::socketpair(os::SocketType::seqpacket));
  const std::array<const os::Fd*, 4> fds{&link.two, &key, &state, &anchor};
  TRY(os::Child child,
      start_own_program({.arguments = {"cordon-notary", "--serve"},
                         .fds = fds,
                         .id = range_ ? std::optional{range_->first()} : std::nullopt},
                        [](const Error& /*its socket ends*/) {}));
  child_.emplace(std::move(child));
  return std::move(link.one);
}

}  // namespace cordon::launcher
