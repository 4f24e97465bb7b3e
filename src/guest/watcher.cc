// SPDX-License-Identifier: Apache-2.0
#include "guest/watcher.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "guest/file_way.h"
#include "guest/watch_tree.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

// False: nobody reads.
bool say(const os::Fd& answer, const frame::FromGuest& frame) {
  return os::write_all(answer, as_text(encode(frame))).has_value();
}

// In frames that are not too long.
bool say_all(const os::Fd& answer, const frame::WatchEvents& told) {
  std::span<const frame::WatchEvent> left{told.events};
  for (bool last = false; !last;) {
    const auto part = left.first(std::min(left.size(), frame::kMostWatchEvents));
    left = left.subspan(part.size());
    last = left.empty();
    if (part.empty() && !told.lost) return true;
    if (!say(answer,
             frame::WatchEvents{.events = {part.begin(), part.end()}, .lost = last && told.lost})) {
      return false;
    }
  }
  return true;
}

Status watch_until_gone(const frame::StartWatch& wanted, const os::Fd& answer) {
  TRY(const FileWay way, FileWay::make(wanted.beneath));
  const auto open = [&] { return way.open(wanted.path, O_PATH); };
  TRY(WatchTree tree, WatchTree::create(open, wanted.recursive));
  bool there = say(answer, frame::WatchBegun{});
  while (there) {
    // The end of who reads is an error of the pipe, asked for or not.
    pollfd news[2] = {{.fd = tree.inotify().get(), .events = POLLIN, .revents = 0},
                      {.fd = answer.get(), .events = 0, .revents = 0}};
    if (::poll(&news[0], 2, -1) < 0 && errno != EINTR) return Error::from_errno("poll");
    if (news[1].revents != 0) return {};
    frame::WatchEvents told;
    TRY(there, tree.read(told));
    if (!say_all(answer, told)) return {};
  }
  return {};
}

}  // namespace

void watch(const frame::StartWatch& wanted, const os::Fd& answer) {
  const Status done = watch_until_gone(wanted, answer);
  refuse_watch(done ? 0 : std::max(done.error().cause().value(), 1), answer);
}

void refuse_watch(int error_number, const os::Fd& answer) {
  say(answer, frame::WatchEnded{.error_number = error_number});
}

}  // namespace cordon::guest
