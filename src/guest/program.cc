// SPDX-License-Identifier: Apache-2.0
#include "guest/program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "guest/herald.h"

namespace cordon::guest {
namespace {

std::optional<StartFailure> take_streams(const Streams& streams) {
  if (::setsid() < 0) return StartFailure{"session", errno};
  if (streams.terminal && ::ioctl(streams.in.get(), TIOCSCTTY, 0) != 0) {
    return StartFailure{"terminal", errno};
  }
  if (streams.orders && !make_herald(streams.orders, streams.slave)) {
    return StartFailure{"terminal", errno};
  }
  int number = 0;
  for (const os::Fd* source : {&streams.in, &streams.out, &streams.err}) {
    // The spawner holds 0 to 2 itself, so that no source is one of these.
    if (::dup2(source->get(), number++) < 0) return StartFailure{"streams", errno};
  }
  if (::syscall(SYS_close_range, kLink + 1U, INT_MAX, 0U) != 0) {
    return StartFailure{"streams", errno};
  }
  return std::nullopt;
}

// A directory that is gone, or lies outside of our root, has no name that begins with a slash.
std::optional<StartFailure> enter_directory(const std::string& directory) {
  if (!directory.starts_with('/')) return StartFailure{"directory", EINVAL};
  if (::chdir(directory.c_str()) != 0) return StartFailure{"directory", errno};
  std::array<char, PATH_MAX> where{};
  if (::syscall(SYS_getcwd, where.data(), where.size()) < 0) {
    return StartFailure{"directory", errno};
  }
  if (where[0] != '/') return StartFailure{"directory", EXDEV};
  return std::nullopt;
}

// As execvp: what cannot be executed is remembered, what is not there is passed over.
int exec_first(const std::vector<std::string>& paths, char* const* arguments,
               char* const* environment) {
  int error_number = ENOENT;
  for (const std::string& path : paths) {
    ::execve(path.c_str(), arguments, environment);
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    if (errno == EACCES) error_number = EACCES;
  }
  return error_number;
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

std::expected<Program, StartFailure> prepare(const frame::Start& start) {
  if (start.arguments.empty() || has_nul(start.arguments) || has_nul(start.environment)) {
    return std::unexpected{StartFailure{"exec", EINVAL}};
  }
  if (start.directory.find('\0') != std::string::npos) {
    return std::unexpected{StartFailure{"directory", EINVAL}};
  }
  return Program{.paths = candidates(start.arguments[0], start.environment),
                 .arguments = to_c_strings(start.arguments),
                 .environment = to_c_strings(start.environment),
                 .directory = start.directory};
}

StartFailure become(const Program& program, const Streams& streams) {
  if (const auto failure = take_streams(streams)) return *failure;
  if (const auto failure = enter_directory(program.directory)) return *failure;
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return {"exec", exec_first(program.paths, program.arguments.data(), program.environment.data())};
}

}  // namespace cordon::guest
