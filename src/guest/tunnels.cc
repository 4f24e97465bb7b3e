// SPDX-License-Identifier: Apache-2.0
#include "guest/tunnels.h"

#include <cerrno>

#include "guest/process.h"

namespace cordon::guest {

Result<os::Fd> Tunnels::open(const os::Epoll& epoll, std::uint32_t number) {
  if (tunnels_.contains(number)) return Error{Errc::invalid, "a tunnel number that is taken"};
  if (tunnels_.size() >= frame::kMostTunnels) return Error::from_errno("tunnels", EAGAIN);
  Tunnel tunnel{number, tag_of(Role::tunnel_answer, number), tag_of(Role::tunnel, number)};
  TRY(os::Fd answer, tunnel.await(epoll));
  tunnels_.emplace(number, std::move(tunnel));
  return answer;
}

void Tunnels::hear_answer(const os::Epoll& epoll, std::uint32_t number) {
  if (const auto found = tunnels_.find(number); found != tunnels_.end()) {
    found->second.hear_answer(epoll);
  }
}

void Tunnels::move(const os::Epoll& epoll, std::uint32_t number) {
  if (const auto found = tunnels_.find(number); found != tunnels_.end()) found->second.move(epoll);
}

Status Tunnels::give(const os::Epoll& epoll, const frame::TunnelData& data) {
  const auto found = tunnels_.find(data.tunnel);
  return found == tunnels_.end() ? Status{} : found->second.give(epoll, data.bytes);
}

Status Tunnels::end_input(const os::Epoll& epoll, std::uint32_t number) {
  const auto found = tunnels_.find(number);
  if (found != tunnels_.end()) found->second.end_input(epoll);
  return {};
}

Status Tunnels::confirm(const os::Epoll& epoll, const frame::TunnelTaken& taken) {
  const auto found = tunnels_.find(taken.tunnel);
  return found == tunnels_.end() ? Status{} : found->second.confirm(epoll, taken.count);
}

void Tunnels::close(const os::Epoll& epoll, std::uint32_t number) {
  const auto found = tunnels_.find(number);
  if (found == tunnels_.end()) return;
  found->second.close(epoll);
  tunnels_.erase(found);
}

void Tunnels::close_all(const os::Epoll& epoll) {
  for (auto& [number, tunnel] : tunnels_) tunnel.close(epoll);
  tunnels_.clear();
}

bool Tunnels::append_owed(const os::Epoll& epoll, std::vector<std::byte>& out, std::size_t most) {
  bool some = false;
  auto next = tunnels_.upper_bound(turn_);
  for (std::size_t left = tunnels_.size(); left > 0 && out.size() < most; --left) {
    if (next == tunnels_.end()) next = tunnels_.begin();
    turn_ = next->first;
    some = next->second.append_owed(out) || some;
    const bool over = next->second.is_over();
    if (over) next->second.close(epoll);
    next = over ? tunnels_.erase(next) : std::next(next);
  }
  return some;
}

}  // namespace cordon::guest
