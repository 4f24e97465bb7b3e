// SPDX-License-Identifier: Apache-2.0
// What becomes of processes: starts as the spawner tells them, ends as the kernel does.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <utility>

#include "guest/directory.h"
#include "guest/loop.h"
#include "os/file.h"
#include "os/prctl.h"

namespace cordon::guest {
namespace {

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U +
         static_cast<std::uint64_t>(time.tv_usec);
}

// Who has ended; 0 where nobody has. That there are no children is no failure. Any other is: who
// cannot see ends lets the host wait for ever, and had better end.
Result<pid_t> ended(int& status, rusage& use) {
  const pid_t found = ::wait4(-1, &status, WNOHANG, &use);
  if (found < 0 && errno != ECHILD) return Error::from_errno("wait4");
  return std::max(found, 0);
}

}  // namespace

// Orphans come to us too and are reaped in silence.
Status Loop::reap() {
  while (true) {
    int status = 0;
    rusage use{};
    TRY(const pid_t pid, ended(status, use));
    if (pid == 0) break;
    stillness_.forget(pid);
    starter_.forget(pid);
    TRY_DO(reaped(pid, status, use));
  }
  stillness_.look_soon();
  return {};
}

Status Loop::reaped(pid_t pid, int status, const rusage& use) {
  if (!WIFEXITED(status) && !WIFSIGNALED(status)) return {};
  if (pid == starter_.pid()) {
    // It may have become a program of which we had not heard.
    TRY_DO(on_start_events(starter_.bury()));
    if (setup_ && tree_stands_ && !stands_) return fall("spawner", ECHILD);
  }
  const auto found = std::ranges::find_if(
      processes_, [&](const auto& entry) { return entry.second.live_pid() == pid; });
  if (found == processes_.end()) return {};
  const bool by_signal = WIFSIGNALED(status);
  return found->second.set_exit(
      epoll_,
      {.process = found->first,
       .by_signal = by_signal,
       .value = static_cast<std::uint32_t>(by_signal ? WTERMSIG(status) : WEXITSTATUS(status)),
       .cpu_microseconds = microseconds(use.ru_utime) + microseconds(use.ru_stime),
       .most_memory = static_cast<std::uint64_t>(use.ru_maxrss) << 10U,
       .disk = disk_use(),
       .oom_kills = oom_kills_ ? oom_kills_->count() : 0});
}

Status Loop::on_start_events(std::vector<StartEvent> events) {
  for (StartEvent& event : events) TRY_DO(on_start_event(std::move(event)));
  return {};
}

Status Loop::on_start_event(StartEvent event) {
  switch (event.kind) {
    case StartEvent::Kind::ready:
      if (std::exchange(stands_, true)) return {};
      hello_owed_ = true;
      // From here on the end of the stream is our end, and the launcher's own is not.
      return os::set_parent_death_signal(0);
    case StartEvent::Kind::fallen:
      if (!stands_) return fall(std::move(event.step), event.error_number);
      return {};
    case StartEvent::Kind::streams:
    case StartEvent::Kind::running:
    case StartEvent::Kind::failed:
      break;
  }
  Process* process = find(event.process);
  if (process == nullptr || process->failed()) return {};
  if (event.kind == StartEvent::Kind::streams) {
    process->set_pid(event.pid);
    const Status opened = process->open(epoll_, std::move(event.fds));
    if (opened) return {};
    ::kill(event.pid, SIGKILL);  // it must not run unseen
    process->fail(epoll_, "streams", opened.error().cause().value());
  } else if (event.kind == StartEvent::Kind::running) {
    process->set_running();
  } else {
    process->fail(epoll_, std::move(event.step), event.error_number);
  }
  return {};
}

void Loop::kill_all(int signal) {
  starter_.forgive();
  if (options_.pid_namespace) {
    ::kill(-1, signal);
    // A stopped spawner would let every start wait until patience ends.
    if (signal != SIGKILL && starter_.pid() > 0) ::kill(starter_.pid(), SIGCONT);
    return;
  }
  for (const auto& [number, process] : processes_) {
    if (process.live_pid() > 0) ::kill(-process.live_pid(), signal);
  }
  if (signal == SIGKILL && starter_.pid() > 0) ::kill(starter_.pid(), SIGKILL);
}

bool Loop::is_program(pid_t pid) const {
  return std::ranges::any_of(processes_,
                             [&](const auto& entry) { return entry.second.live_pid() == pid; });
}

Status Loop::stand_still() {
  stillness_.begin();
  TRY_DO(on_start_events(starter_.drop_starts()));
  stillness_.let_ours_go_on();
  return {};
}

frame::DiskUse Loop::disk_use() const {
  struct statvfs facts{};
  if (!disk_ || ::fstatvfs(disk_.get(), &facts) != 0) return {};
  // What a file system keeps back for itself (f_bfree without f_bavail) is nobody's to fill.
  const std::uint64_t used = facts.f_blocks - facts.f_bfree;
  return {.bytes = used * facts.f_frsize,
          .most_bytes = (used + facts.f_bavail) * facts.f_frsize,
          .inodes = facts.f_files - facts.f_ffree,
          .most_inodes = facts.f_files};
}

// All of the sandbox but pid 1 and its spawners; of those that we know where /proc cannot tell.
// The kernel gives ids in turn: the last one tells how many there were.
std::uint64_t Loop::count_born() const {
  const auto last = os::read_file(os::at_cwd(), "/proc/sys/kernel/ns_last_pid", 32);
  if (!last) return 0;
  std::uint64_t number = 0;
  std::from_chars(last->data(), last->data() + last->size(), number);
  return number;
}

std::uint32_t Loop::count_processes() const {
  const auto proc = os::openat(os::at_cwd(), "/proc", O_RDONLY | O_DIRECTORY);
  const auto names = options_.pid_namespace && proc
                         ? names_in(*proc)
                         : Result<std::vector<std::string>>{Error{Errc::unavailable, "no /proc"}};
  if (!names) {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        processes_, [](const auto& entry) { return entry.second.live_pid() > 0; }));
  }
  const auto pids = std::ranges::count_if(
      *names, [](const std::string& name) { return name[0] >= '1' && name[0] <= '9'; });
  const int ours = 1 + starter_.count();
  return static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(pids - ours, 0));
}

}  // namespace cordon::guest
