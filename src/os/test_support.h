// SPDX-License-Identifier: Apache-2.0
// What the tests of this module share: a child for acts that cannot be undone, and a directory that
// goes away.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "base/result.h"
#include "os/file.h"
#include "os/id_map.h"
#include "os/mount.h"
#include "os/namespace.h"

namespace cordon::os {

// "ok", or the error's text.
template <class T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : result.error().text();
}

// Runs `act`, which returns a std::string, in a forked child. Gives what it returned, or "exit N"
// or "signal N" when the child came to no return.
template <class Act>
std::string in_child(Act act) {
  auto pipe = pipe2();
  if (!pipe) return pipe.error().text();
  const pid_t child = ::fork();
  if (child < 0) return "fork failed";
  if (child == 0) {
    const std::string said = act();
    const Status sent = write_all(pipe->write, said);
    ::_exit(sent ? 0 : 99);  // no destructors and no leak check of the parent's things
  }
  pipe->write = Fd{};
  const auto said = read_all(pipe->read, kSmallFile);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit " + std::to_string(WEXITSTATUS(status));
  return said ? *said : said.error().text();
}

// Puts the (child) process into a user and a mount namespace of its own, as root there.
inline Status enter_own_namespaces() {
  const std::array uids{IdRange{0, ::geteuid(), 1}};
  const std::array gids{IdRange{0, ::getegid(), 1}};
  TRY_DO(unshare({Ns::user, Ns::mount}));
  TRY_DO(deny_setgroups(::getpid()));
  TRY_DO(write_uid_map(::getpid(), uids));
  TRY_DO(write_gid_map(::getpid(), gids));
  // A namespace that belongs to a new user namespace gets its mounts as slaves already; private
  // also keeps foreign mounts from coming in.
  return set_propagation(at_cwd(), "/", Propagation::private_);
}

// A new directory that only its owner enters, removed with all it holds.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "cordon-os-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    if (auto dir = openat(at_cwd(), path_.c_str(), O_RDONLY | O_DIRECTORY)) fd_ = *std::move(dir);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const Fd& fd() const noexcept { return fd_; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  Fd fd_;
};

}  // namespace cordon::os
