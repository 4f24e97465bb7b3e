// SPDX-License-Identifier: Apache-2.0
#include "guest/program.h"

#include <array>
#include <cerrno>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "guest/spawner_report.h"
#include "os/process.h"

namespace cordon::guest {
namespace {

constexpr std::size_t kChildStack = std::size_t{64} << 10U;

// All that the child needs, made beforehand: it shares our memory and must not allocate.
struct Prepared {
  std::vector<const char*> paths;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const char* directory = nullptr;
  int in = -1;
  int out = -1;
  int err = -1;
  bool terminal = false;
  int link = -1;
  // What the child leaves behind when it ends without an exec.
  const char* failed_step = nullptr;
  int error_number = 0;
};

[[noreturn]] void fail(Prepared& prepared, const char* step, int error_number) {
  prepared.failed_step = step;
  prepared.error_number = error_number;
  ::_exit(127);
}

// Without a listener nobody would know of us: then there is no start.
void tell_birth(Prepared& prepared) {
  const SpawnerReport report{.kind = SpawnerReport::Kind::born,
                             .pid = static_cast<std::uint32_t>(::syscall(SYS_getpid))};
  ssize_t sent = 0;
  do {
    sent = ::send(prepared.link, &report, sizeof report, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) fail(prepared, "report", errno);
}

// A directory that is gone, or lies outside of our root, has no name that begins with a slash.
void enter_directory(Prepared& prepared) {
  if (prepared.directory[0] != '/') fail(prepared, "directory", EINVAL);
  if (::chdir(prepared.directory) != 0) fail(prepared, "directory", errno);
  std::array<char, PATH_MAX> where{};
  if (::syscall(SYS_getcwd, where.data(), where.size()) < 0) fail(prepared, "directory", errno);
  if (where[0] != '/') fail(prepared, "directory", EXDEV);
}

void take_streams(Prepared& prepared) {
  if (::setsid() < 0) fail(prepared, "session", errno);
  if (prepared.terminal && ::ioctl(prepared.in, TIOCSCTTY, 0) != 0) {
    fail(prepared, "terminal", errno);
  }
  const std::array sources{prepared.in, prepared.out, prepared.err};
  for (int number = 0; number < 3; ++number) {
    // The spawner holds 0 to 2 itself, so that no source is one of these.
    if (::dup2(sources[static_cast<std::size_t>(number)], number) < 0) {
      fail(prepared, "streams", errno);
    }
  }
  if (::syscall(SYS_close_range, 3U, UINT_MAX, 0U) != 0) fail(prepared, "streams", errno);
}

void take_default_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int run_child(void* argument) {
  Prepared& prepared = *static_cast<Prepared*>(argument);
  tell_birth(prepared);
  take_streams(prepared);
  enter_directory(prepared);
  take_default_signals();
  // As execvp: what cannot be executed is remembered, what is not there is passed over.
  int error_number = ENOENT;
  for (const char* path : prepared.paths) {
    ::execve(path, prepared.arguments.data(), prepared.environment.data());
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
      error_number = errno;
      break;
    }
    if (errno == EACCES) error_number = EACCES;
  }
  fail(prepared, "exec", error_number);
}

std::vector<char*> to_c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  // exec takes char*, and writes through none of them.
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool has_nul(const std::vector<std::string>& strings) {
  for (const std::string& text : strings) {
    if (text.find('\0') != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> candidates(std::string_view name,
                                    const std::vector<std::string>& environment) {
  if (name.empty()) return {};
  if (name.find('/') != std::string_view::npos) return {std::string{name}};
  std::string_view path = kDefaultPath;
  for (const std::string_view entry : environment) {
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  }
  std::vector<std::string> paths;
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(directory.size() + 1, path.size()));
    if (directory.empty()) continue;
    paths.emplace_back(directory).append("/").append(name);
  }
  return paths;
}

std::optional<StartFailure> run_program(const frame::Start& start, const Streams& streams,
                                        const os::Fd& link) {
  if (start.arguments.empty() || has_nul(start.arguments) || has_nul(start.environment)) {
    return StartFailure{"exec", EINVAL};
  }
  if (start.directory.find('\0') != std::string::npos) return StartFailure{"directory", EINVAL};
  const std::vector<std::string> paths = candidates(start.arguments[0], start.environment);
  Prepared prepared{.arguments = to_c_strings(start.arguments),
                    .environment = to_c_strings(start.environment),
                    .directory = start.directory.c_str(),
                    .in = streams.in.get(),
                    .out = streams.out.get(),
                    .err = streams.err.get(),
                    .terminal = streams.terminal,
                    .link = link.get()};
  for (const std::string& path : paths) prepared.paths.push_back(path.c_str());

  void* stack = ::mmap(nullptr, kChildStack, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return StartFailure{"fork", errno};
  // A sibling, not a child: pid 1 reaps it, also when this spawner is no more. We stand still until
  // it has another program or none.
  const int pid = ::clone(run_child, static_cast<std::byte*>(stack) + kChildStack,
                          CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD, &prepared);
  const int error_number = errno;
  ::munmap(stack, kChildStack);
  if (pid < 0) return StartFailure{"fork", error_number};
  if (prepared.failed_step != nullptr) {
    return StartFailure{prepared.failed_step, prepared.error_number};
  }
  return std::nullopt;
}

}  // namespace cordon::guest
