// SPDX-License-Identifier: Apache-2.0
// posix_spawn, which makes no copy of our memory.
#include "os/spawn.h"

#include <fcntl.h>
#include <memory>
#include <signal.h>
#include <spawn.h>

#include "os/file.h"
#include "os/pidfd.h"
#include "os/pipe_size.h"

namespace cordon::os {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&raw_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&raw_); }
  posix_spawn_file_actions_t* get() { return &raw_; }

 private:
  posix_spawn_file_actions_t raw_{};
};

class Attributes {
 public:
  explicit Attributes(short more = 0) {
    ::posix_spawnattr_init(&raw_);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&raw_, &set);
    ::sigfillset(&set);
    ::posix_spawnattr_setsigdefault(&raw_, &set);
    ::posix_spawnattr_setflags(
        &raw_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | more));
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&raw_); }
  posix_spawnattr_t* get() { return &raw_; }

 private:
  posix_spawnattr_t raw_{};
};

}  // namespace

Result<Child> spawn(const std::string& program, std::vector<std::string> arguments,
                    std::vector<std::string> environment, std::span<const Fd* const> fds,
                    const StandardFds& standard) {
  // Copies high up first: a source may stand where another has to go.
  constexpr int kAbove = 64;
  FileActions actions;
  int number = 3;
  for (const Fd* fd : fds) {
    ::posix_spawn_file_actions_adddup2(actions.get(), fd->get(), kAbove + number);
    ++number;
  }
  for (int placed = 3; placed < number; ++placed) {
    ::posix_spawn_file_actions_adddup2(actions.get(), kAbove + placed, placed);
    ::posix_spawn_file_actions_addclose(actions.get(), kAbove + placed);
  }
  const Fd* const streams[] = {standard.in, standard.out, standard.err};
  for (int at = 0; at < 3; ++at) {
    if (streams[at] == nullptr) continue;
    ::posix_spawn_file_actions_adddup2(actions.get(), streams[at]->get(), at);
  }
  Attributes attributes;
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), actions.get(), attributes.get(),
                                   pointers(arguments).data(), pointers(environment).data());
  if (failed != 0) return Error::from_errno("posix_spawn", failed).with(program);
  TRY(Fd pidfd, pidfd_open(pid));
  return Child{pid, std::move(pidfd)};
}

Result<Piped> spawn_piped(const std::string& program, std::vector<std::string> arguments,
                          std::size_t size) {
  TRY(Pipe in, pipe2());
  TRY(Pipe out, pipe2());
  TRY(Pipe err, pipe2());
  widen_pipe(in.write, size);
  widen_pipe(out.read, size);
  TRY(Child child, spawn(program, std::move(arguments), {}, {},
                         {.in = &in.read, .out = &out.write, .err = &err.write}));
  return Piped{std::move(child), std::move(in.write), std::move(out.read), std::move(err.read)};
}

Status spawn_and_leave(const std::string& program, std::vector<std::string> arguments,
                       std::vector<std::string> environment) {
  FileActions actions;
  for (int standard = 0; standard < 3; ++standard) {
    ::posix_spawn_file_actions_addopen(actions.get(), standard, "/dev/null", O_RDWR, 0);
  }
  Attributes attributes{POSIX_SPAWN_SETSID};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), actions.get(), attributes.get(),
                                   pointers(arguments).data(), pointers(environment).data());
  if (failed != 0) return Error::from_errno("posix_spawn", failed).with(program);
  return {};
}

}  // namespace cordon::os
