// SPDX-License-Identifier: Apache-2.0
#include "guest/carry_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/fuse.h>
#include <poll.h>
#include <span>
#include <unistd.h>
#include <vector>

namespace cordon::guest {
namespace {

// Longer than any message, either way: a kernel gives and takes each as a whole.
constexpr std::size_t kLongest = std::size_t{256} << 10U;
constexpr std::size_t kPiece = std::size_t{64} << 10U;

}  // namespace

FileCarrier::FileCarrier(os::Fd fuse, os::Fd port)
    : fuse_{std::move(fuse)}, port_{std::move(port)}, request_(kLongest), piece_(kPiece) {
  answers_.reserve(2 * kLongest);
}

Status FileCarrier::ask() {
  while (!owes()) {
    const ssize_t got = ::read(fuse_.get(), request_.data(), request_.size());
    const int number = errno;
    sent_ = 0;
    asked_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    // ENOENT: whoever asked has gone meanwhile.
    if (got < 0 && (number == EINTR || number == ENOENT)) continue;
    if (got < 0 && number == EAGAIN) return {};
    if (got <= 0) return Error::from_errno("read /dev/fuse", number);
    TRY_DO(send());
  }
  return {};
}

Status FileCarrier::send() {
  while (owes()) {
    const ssize_t part = ::write(port_.get(), request_.data() + sent_, asked_ - sent_);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0 && errno == EAGAIN) return {};
    if (part < 0) return Error::from_errno("write");
    sent_ += static_cast<std::size_t>(part);
  }
  return {};
}

// A port gives no more at once than one of its buffers: what is known to be under way is read
// without asking whether there is anything.
Status FileCarrier::answer() {
  do {
    const ssize_t got = ::read(port_.get(), piece_.data(), piece_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return {};
    if (got < 0) return Error::from_errno("read");
    if (got == 0) return Error{Errc::unavailable, "nobody serves files"};
    answers_.insert(answers_.end(), piece_.begin(), piece_.begin() + got);
    TRY_DO(pass_on());
  } while (!answers_.empty());
  return {};
}

Status FileCarrier::pass_on() {
  std::size_t at = 0;
  while (answers_.size() - at >= sizeof(fuse_out_header)) {
    fuse_out_header head{};
    std::memcpy(&head, answers_.data() + at, sizeof head);
    if (head.len < sizeof head || head.len > kLongest) return Error{Errc::invalid, "no answer"};
    if (answers_.size() - at < head.len) break;
    // Refused where nobody waits for it any more.
    static_cast<void>(::write(fuse_.get(), answers_.data() + at, head.len) < 0);
    at += head.len;
  }
  answers_.erase(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(at));
  return {};
}

Result<bool> FileCarrier::turn(const os::Fd* until, int milliseconds) {
  const auto port_events = static_cast<short>(POLLIN | (owes() ? POLLOUT : 0));
  std::array<pollfd, 3> ready{
      {{.fd = until == nullptr ? -1 : until->get(), .events = POLLIN, .revents = 0},
       {.fd = port_.get(), .events = port_events, .revents = 0},
       {.fd = owes() ? -1 : fuse_.get(), .events = POLLIN, .revents = 0}}};
  if (::poll(ready.data(), ready.size(), milliseconds) < 0) {
    if (errno == EINTR) return false;
    return Error::from_errno("poll");
  }
  if (ready[0].revents != 0) return true;
  if ((ready[1].revents & ~POLLOUT) != 0) TRY_DO(answer());
  if ((ready[1].revents & POLLOUT) != 0) TRY_DO(send());
  if (ready[2].revents != 0) TRY_DO(ask());
  return false;
}

Status FileCarrier::carry(const os::Fd& until) {
  for (;;) {
    TRY(const bool has_told, turn(&until, -1));
    if (has_told) return {};
  }
}

Status FileCarrier::carry_for(std::chrono::milliseconds span) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + span;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return {};
    TRY_DO(turn(nullptr, static_cast<int>(left.count())));
  }
}

}  // namespace cordon::guest
