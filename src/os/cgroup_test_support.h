// SPDX-License-Identifier: Apache-2.0
// What the tests of both cgroup versions share: unique names, and members that only wait.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <unistd.h>

#include "os/fd.h"
#include "os/file.h"
#include "os/pidfd.h"

namespace cordon::os {

inline std::string unique_group_name() {
  static std::atomic<int> counter{0};
  return "cordon-test-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

// Forks a child that joins `group` and then waits for its death; empty when it could not join.
template <class Group>
Fd start_member(const Group& group) {
  auto said = pipe2();
  if (!said) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    if (!group.add(0)) ::_exit(1);
    if (!write_all(said->write, "in")) ::_exit(1);
    said->write = Fd{};
    while (true) ::pause();
  }
  said->write = Fd{};
  auto pidfd = pidfd_open(child);
  const auto joined = read_all(said->read, 10);
  if (!pidfd) return {};
  if (!joined || *joined != "in") {
    static_cast<void>(waitid(*pidfd));
    return {};
  }
  return *std::move(pidfd);
}

// Asks again and again, for at most two seconds.
template <class Question>
bool becomes_true(Question question) {
  for (int tried = 0; tried < 2000; ++tried) {
    if (question()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return false;
}

}  // namespace cordon::os
