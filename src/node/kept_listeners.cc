// SPDX-License-Identifier: Apache-2.0
#include "node/kept_listeners.h"

#include <algorithm>

#include "os/fault_point.h"
#include "os/file_status.h"
#include "os/listen_at_path.h"
#include "os/tcp_listen.h"

namespace cordon::node {
namespace {

using sandbox::KeptListener;

constexpr int kMostTries = 5;
constexpr const char* kLocal = "unix";
constexpr const char* kTcp = "tcp";

// Somebody may have taken the name away.
bool is_still_named(const std::string& path) {
  const auto there = os::statx(os::at_cwd(), path.c_str());
  return there && there->type == os::FileType::socket;
}

Result<os::Fd> listen_at(const TcpAddress& place) {
  TRY(const os::IpAddress address, os::IpAddress::parse(place.host));
  return os::tcp_listen(address, place.port);
}

Result<os::Fd> copy_of(const std::vector<KeptListener>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &KeptListener::name);
  if (found == all.end() || !found->socket) return os::Fd{};
  return os::duplicate(found->socket);
}

Result<KeptListener> copy_of(const KeptListener& listener) {
  KeptListener copy{listener.name, listener.address, {}};
  if (listener.socket) {
    TRY(copy.socket, os::duplicate(listener.socket));
  }
  return copy;
}

// An empty one where an earlier node left none at this address.
async::Task<os::Fd> taken(sandbox::LauncherLink& launcher, std::string name, std::string address) {
  auto earlier = co_await launcher.take_listener(std::move(name));
  if (!earlier && earlier.error().code() != Errc::not_found) co_return earlier.error();
  if (!earlier || earlier->address != address) co_return os::Fd{};
  co_return std::move(earlier->socket);
}

}  // namespace

async::Task<KeptListeners> KeptListeners::open(const Settings& settings,
                                               sandbox::LauncherLink& launcher) {
  for (int tried = 1;; ++tried) {
    auto opened = co_await open_once(settings, launcher);
    const bool died = !opened && opened.error().code() == Errc::unavailable && launcher.is_lost();
    if (!died || tried == kMostTries) co_return opened;
  }
}

async::Task<KeptListeners> KeptListeners::open_once(const Settings& settings,
                                                    sandbox::LauncherLink& launcher) {
  KeptListeners kept{launcher};
  KeptListener local{kLocal, settings.unix_socket, {}};
  CO_TRY(local.socket, co_await taken(launcher, local.name, local.address));
  os::fault_point("node.listen.taken");
  if (!local.socket || !is_still_named(local.address)) {
    // Else our own earlier one would be taken for another server's.
    local.socket = os::Fd{};
    CO_TRY_DO(co_await launcher.keep_listener({.name = kLocal, .address = {}, .socket = {}}));
    CO_TRY(local.socket, os::listen_at_path(settings.unix_socket));
  }
  kept.all_.push_back(std::move(local));
  KeptListener tcp{kTcp, {}, {}};
  if (settings.tcp) {
    tcp.address = settings.tcp->host + " " + std::to_string(settings.tcp->port);
    CO_TRY(tcp.socket, co_await taken(launcher, tcp.name, tcp.address));
    if (!tcp.socket) {
      CO_TRY(tcp.socket, listen_at(*settings.tcp));
    }
  }
  kept.all_.push_back(std::move(tcp));
  os::fault_point("node.listen.made");
  CO_TRY_DO(co_await kept.deposit());
  co_return kept;
}

Result<os::Fd> KeptListeners::local() const { return copy_of(all_, kLocal); }
Result<os::Fd> KeptListeners::tcp() const { return copy_of(all_, kTcp); }

async::Task<void> KeptListeners::deposit() const {
  for (const KeptListener& listener : all_) {
    CO_TRY(KeptListener copy, copy_of(listener));
    CO_TRY_DO(co_await launcher_->keep_listener(std::move(copy)));
  }
  co_return Status{};
}

}  // namespace cordon::node
