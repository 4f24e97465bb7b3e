// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/local_launcher.h"

#include <array>
#include <cstdlib>

#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "os/caller.h"
#include "os/id_map.h"
#include "os/socket.h"
#include "os/spawn.h"

namespace cordon::sandbox {
namespace {

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
  const std::array<std::byte, 1> answer{spare_id ? frame::kMapsHaveSpare : frame::kMapsAreOwn};
  TRY(const std::size_t sent, os::send(socket, answer));
  return sent == 1 ? Status{} : Status{Error{Errc::unavailable, "the launcher has ended"}};
}

}  // namespace

Result<StartedLauncher> start_launcher(const std::string& program) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  const std::array<const os::Fd*, 1> fds{&pair.two};  // becomes descriptor 3
  // All that it is told of the caller's surroundings.
  std::vector<std::string> environment;
  for (const char* name : {frame::kRunscVariable, frame::kQemuVariable, frame::kMachineVariable}) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread
    if (const char* value = std::getenv(name); value != nullptr) {
      environment.push_back(std::string{name} + "=" + value);
    }
  }
  TRY(os::Child child, os::spawn(program, {"cordon-launcher"}, std::move(environment), fds));
  return StartedLauncher{std::move(child), std::move(pair.one)};
}

LocalLauncher::LocalLauncher(const asio::any_io_executor& executor, StartedLauncher started,
                             os::Fd end)
    : child_{std::move(started.child)},
      link_{executor, std::move(started.socket)},
      end_{executor, end.release()} {}

Result<LocalLauncher> LocalLauncher::adopt(const asio::any_io_executor& executor,
                                           StartedLauncher started, bool spare_id) {
  TRY_DO(map_ids(started.socket, started.child.pid(), spare_id));
  TRY(os::Fd end, os::duplicate(started.child.pidfd()));
  return LocalLauncher{executor, std::move(started), std::move(end)};
}

Result<LocalLauncher> LocalLauncher::start(const asio::any_io_executor& executor,
                                           const std::string& program, bool spare_id) {
  TRY(StartedLauncher started, start_launcher(program));
  return adopt(executor, std::move(started), spare_id);
}

Status LocalLauncher::reclaim(const std::string& program, bool spare_id) {
  TRY(StartedLauncher started, start_launcher(program));
  TRY_DO(map_ids(started.socket, started.child.pid(), spare_id));
  started.socket = os::Fd{};  // its first look finds nobody: it ends by itself
  TRY_DO(std::move(started.child).wait());
  return {};
}

void LocalLauncher::when_ended(std::function<void()> act) {
  end_.async_wait(asio::posix::descriptor_base::wait_read,
                  [act = std::move(act)](const boost::system::error_code& error) {
                    if (!error) act();
                  });
}

void LocalLauncher::ignore_end() {
  boost::system::error_code ignored;
  end_.cancel(ignored);
}

}  // namespace cordon::sandbox
