// SPDX-License-Identifier: Apache-2.0
// What the host asks for beside programs: file acts, tunnels, watches. Each is done by a child of
// the spawner; what it says comes over a pipe or a socket of its own.
#include <cerrno>
#include <utility>

#include "guest/error_number.h"
#include "guest/loop.h"

namespace cordon::guest {
namespace {

// A frame that no host sends, and not the system's refusal.
bool is_nonsense(const Error& error) { return error.cause().value() == 0; }

}  // namespace

// Where a request cannot wait, the answer's end closes here and the host hears of it.

Status Loop::on_frame(const frame::FileRequest& request) { return begin_file_act(request.request); }
Status Loop::on_frame(const frame::WriteTree& tree) { return begin_file_act(tree.request); }
Status Loop::on_frame(const frame::ReadTree& tree) { return begin_file_act(tree.request); }

Status Loop::begin_file_act(std::uint32_t request) {
  if (!tree_stands_) return nonsense("a file act before the tree stands");
  auto answer = files_.begin(epoll_, request);
  if (!answer) {
    reply(frame::FileReply{.request = request, .error_number = number_of(answer.error())});
    return {};
  }
  static_cast<void>(starter_.ask_aside({body_.begin(), body_.end()}, *std::move(answer)));
  return {};
}

Status Loop::on_frame(const frame::OpenTunnel& open) {
  if (!tree_stands_) return nonsense("a tunnel before the tree stands");
  auto answer = tunnels_.open(epoll_, open.tunnel);
  if (!answer) {
    if (is_nonsense(answer.error())) return std::move(answer).error();
    reply(frame::TunnelFailed{.tunnel = open.tunnel, .error_number = number_of(answer.error())});
    return {};
  }
  static_cast<void>(starter_.ask_aside({body_.begin(), body_.end()}, *std::move(answer)));
  return {};
}

Status Loop::on_frame(const frame::TunnelData& data) { return tunnels_.give(epoll_, data); }

Status Loop::on_frame(const frame::TunnelEnd& end) {
  return tunnels_.end_input(epoll_, end.tunnel);
}

Status Loop::on_frame(const frame::TunnelTaken& taken) { return tunnels_.confirm(epoll_, taken); }

Status Loop::on_frame(const frame::CloseTunnel& close) {
  tunnels_.close(epoll_, close.tunnel);
  return {};
}

Status Loop::on_frame(const frame::StartWatch& start) {
  if (!tree_stands_) return nonsense("a watch before the tree stands");
  auto answer = watches_.begin(epoll_, start.watch);
  if (!answer) {
    if (is_nonsense(answer.error())) return std::move(answer).error();
    reply(frame::WatchEnded{.watch = start.watch, .error_number = number_of(answer.error())});
    return {};
  }
  static_cast<void>(starter_.ask_aside({body_.begin(), body_.end()}, *std::move(answer)));
  return {};
}

Status Loop::on_frame(const frame::StopWatch& stop) {
  watches_.stop(epoll_, stop.watch);
  return {};
}

void Loop::abandon_aside() {
  files_.abandon(epoll_);
  tunnels_.close_all(epoll_);
  watches_.stop_all(epoll_);
}

}  // namespace cordon::guest
