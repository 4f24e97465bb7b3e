// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/local_launcher.h"

#include <array>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "os/caller.h"
#include "os/id_map.h"
#include "os/socket.h"
#include "os/spawn.h"

namespace cordon::sandbox {
namespace {

constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);

// As in launcher/open_workshop.h, which this side must not include: two programs, one byte.
constexpr std::byte kMapsAreOwn{1};
constexpr std::byte kMapsHaveSpare{2};

Status write_maps(pid_t pid, const os::CallerIds& caller) {
  TRY_DO(os::deny_setgroups(pid));
  const os::IdRange uid{caller.uid, caller.uid, 1};
  const os::IdRange gid{caller.gid, caller.gid, 1};
  TRY_DO(os::write_uid_map(pid, {&uid, 1}));
  return os::write_gid_map(pid, {&gid, 1});
}

Status write_maps_with_spare(pid_t pid, const os::CallerIds& caller) {
  TRY(const os::SpareIds spare, os::find_spare_ids(caller));
  const std::array uids{os::IdRange{caller.uid, caller.uid, 1},
                        os::IdRange{spare.uid, spare.uid, 1}};
  const std::array gids{os::IdRange{caller.gid, caller.gid, 1},
                        os::IdRange{spare.gid, spare.gid, 1}};
  TRY_DO(os::run_newuidmap(pid, uids));
  return os::run_newgidmap(pid, gids);
}

// The launcher says that it stands in its namespace; its maps are ours to write.
Status map_ids(const os::Fd& socket, pid_t pid, bool spare_id) {
  const os::CallerIds caller = os::caller_ids();
  if (caller.uid == 0) return {};
  std::array<std::byte, 1> word{};
  TRY(const os::Received got, os::receive(socket, word));
  if (got.bytes != 1) return Error{Errc::unavailable, "the launcher ended before its first word"};
  TRY_DO(spare_id ? write_maps_with_spare(pid, caller) : write_maps(pid, caller));
  const std::array<std::byte, 1> answer{spare_id ? kMapsHaveSpare : kMapsAreOwn};
  TRY(const std::size_t sent, os::send(socket, answer));
  return sent == 1 ? Status{} : Status{Error{Errc::unavailable, "the launcher has ended"}};
}

}  // namespace

LocalLauncher::LocalLauncher(const asio::any_io_executor& executor, os::Child child, os::Fd socket)
    : child_{std::move(child)}, socket_{executor, socket.release()} {}

Result<LocalLauncher> LocalLauncher::start(const asio::any_io_executor& executor,
                                           const std::string& program, bool spare_id) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  const std::array<const os::Fd*, 1> fds{&pair.two};  // becomes descriptor 3
  TRY(os::Child child, os::spawn(program, {"cordon-launcher"}, {}, fds));
  pair.two = os::Fd{};
  TRY_DO(map_ids(pair.one, child.pid(), spare_id));
  return LocalLauncher{executor, std::move(child), std::move(pair.one)};
}

async::Task<LocalLauncher::Message> LocalLauncher::receive() {
  const auto [error] = co_await socket_.async_wait(asio::posix::descriptor_base::wait_read, kQuiet);
  if (error) co_return Error{Errc::unavailable, "the launcher has ended"};
  std::vector<std::byte> buffer(frame::kLongestLauncherMessage);
  os::Fd socket{socket_.native_handle()};
  auto got = os::receive(socket, buffer, 3);
  static_cast<void>(socket.release());  // the descriptor stays the owner
  if (!got) co_return std::move(got).error();
  if (got->bytes == 0) co_return Error{Errc::unavailable, "the launcher has ended"};
  CO_TRY(frame::FromLauncher body,
         frame::decode_from_launcher(std::span{buffer}.first(got->bytes)));
  Message message{std::move(body), std::move(got->fds)};
  co_return message;
}

async::Task<LaunchedSandbox> LocalLauncher::launch(const frame::LaunchPlan& plan) {
  const std::vector<std::byte> encoded = frame::encode(plan);
  const auto request = frame::encode(frame::ToLauncher{
      frame::Launch{{reinterpret_cast<const char*>(encoded.data()), encoded.size()}}});
  {
    os::Fd socket{socket_.native_handle()};
    const auto sent = os::send(socket, request);
    static_cast<void>(socket.release());
    if (!sent) co_return sent.error();
  }
  CO_TRY(Message message, co_await receive());
  if (auto* launched = std::get_if<frame::Launched>(&message.body)) {
    if (message.fds.size() < 2) co_return Error{Errc::internal, "the launcher sent no stream"};
    LaunchedSandbox sandbox{std::move(*launched), std::move(message.fds[0]),
                            std::move(message.fds[1]), os::Fd{}};
    if (message.fds.size() > 2) sandbox.range = std::move(message.fds[2]);
    co_return sandbox;
  }
  if (const auto* refused = std::get_if<frame::Refused>(&message.body)) {
    co_return Error{Errc::denied, refused->code + ": " + refused->text};
  }
  if (const auto* broken = std::get_if<frame::Broken>(&message.body)) {
    co_return Error{Errc::unavailable, broken->step + ": " + broken->text};
  }
  co_return Error{Errc::internal, "the launcher answered something else"};
}

async::Task<frame::Ended> LocalLauncher::destroy(std::string id) {
  const auto request = frame::encode(frame::ToLauncher{frame::Destroy{id}});
  {
    os::Fd socket{socket_.native_handle()};
    const auto sent = os::send(socket, request);
    static_cast<void>(socket.release());
    if (!sent) co_return Error{Errc::unavailable, "the launcher has ended"};
  }
  // The first word on its end counts: it may have ended by itself just before, and then the answer
  // to our request tells nothing.
  CO_TRY(Message message, co_await receive());
  if (auto* ended = std::get_if<frame::Ended>(&message.body)) co_return std::move(*ended);
  co_return Error{Errc::internal, "the launcher answered something else"};
}

}  // namespace cordon::sandbox
