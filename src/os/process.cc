// SPDX-License-Identifier: Apache-2.0
// clone3, exec and close_range.
#include "os/process.h"

#include <cstdint>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <climits>

namespace cordon::os {
namespace {

std::vector<char*> to_c_strings(std::span<const std::string> strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  // exec takes char*, and writes through none of them.
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// No descriptor is greater; gVisor takes a greater number for a negative one.
constexpr unsigned kLastFd = INT_MAX;

Status close_range(unsigned first, unsigned flags) {
  if (::syscall(SYS_close_range, first, kLastFd, flags) != 0) {
    return Error::from_errno("close_range").with("from " + std::to_string(first));
  }
  return {};
}

}  // namespace

Result<Cloned> clone3(const CloneArgs& arguments) {
  int pidfd = -1;
  clone_args raw{};
  raw.flags = CLONE_PIDFD | arguments.namespaces.flags();
  raw.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  raw.exit_signal = static_cast<unsigned>(arguments.exit_signal);
  if (arguments.clear_signal_handlers) raw.flags |= CLONE_CLEAR_SIGHAND;
  if (arguments.cgroup != nullptr) {
    raw.flags |= CLONE_INTO_CGROUP;
    raw.cgroup = static_cast<unsigned>(arguments.cgroup->get());
  }
  const long pid = ::syscall(SYS_clone3, &raw, sizeof raw);
  if (pid < 0) return Error::from_errno("clone3");
  if (pid == 0) return Cloned{};
  return Cloned{.pid = static_cast<pid_t>(pid), .pidfd = Fd{pidfd}};
}

Result<Child> Child::start(const CloneArgs& arguments, const std::function<int()>& body) {
  TRY(Cloned cloned, clone3(arguments));
  if (cloned.pid == 0) ::_exit(body());
  return Child{cloned.pid, std::move(cloned.pidfd)};
}

Child::~Child() {
  if (!pidfd_) return;
  // Until it is reaped its number is nobody else's: what the one call cannot, the other may, and to
  // wait for one that was not told would be to wait for ever.
  if (!pidfd_send_signal(pidfd_, SIGKILL) && pid_ > 1) ::kill(pid_, SIGKILL);
  static_cast<void>(waitid(pidfd_));
}

bool Child::is_alive() const noexcept {
  pollfd end{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) == 0;
}

Result<ExitStatus> Child::wait() && {
  auto ended = waitid(pidfd_);
  if (ended) pidfd_ = Fd{};
  return ended;
}

Status close_from(unsigned first) { return close_range(first, 0); }
Status set_cloexec_from(unsigned first) { return close_range(first, CLOSE_RANGE_CLOEXEC); }

Error execve(const char* path, std::span<const std::string> arguments,
             std::span<const std::string> environment) {
  ::execve(path, to_c_strings(arguments).data(), to_c_strings(environment).data());
  return Error::from_errno("execve").with(path);
}

Error execveat(const Fd& program, std::span<const std::string> arguments,
               std::span<const std::string> environment) {
  ::syscall(SYS_execveat, program.get(), "", to_c_strings(arguments).data(),
            to_c_strings(environment).data(), AT_EMPTY_PATH);
  return Error::from_errno("execveat").with("fd " + std::to_string(program.get()));
}

}  // namespace cordon::os
