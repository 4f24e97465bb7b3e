// SPDX-License-Identifier: Apache-2.0
// A service launcher of the test's own, and a node before it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "guest/test_host.h"
#include "os/process.h"
#include "os/socket.h"

namespace cordon::service {

struct Answer {
  frame::FromLauncher body;
  std::vector<os::Fd> fds;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&body);
  }
  // What kind of answer it is, with its code.
  std::string text() const;
};

// A node: asks and waits.
class Node {
 public:
  explicit Node(os::Fd socket) : socket_{std::move(socket)} {}
  // Without waiting for the first word.
  static Result<Node> connect(const std::string& path);

  Answer hear();
  Answer ask(const frame::ToLauncher& request, const std::vector<const os::Fd*>& fds = {});
  Answer launch(const frame::LaunchPlan& plan);
  std::vector<frame::Held> list();
  const os::Fd& socket() const { return socket_; }

 private:
  os::Fd socket_;
};

// A directory with a floor file, a socket, and what sandboxes may see; removed with all it holds.
class RootService : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string path(const std::string& name) const { return (scratch_ / name).string(); }
  std::string socket() const { return path("run/launcher"); }
  void write_floor(const std::string& more = {}, std::uint32_t node_uid = 0,
                   unsigned ranges = 64) const;
  // Starts the launcher, or what executes it, and waits until it answers.
  void start(std::vector<std::string> command = {CORDON_LAUNCHER});
  // Its exit, and what it said on standard error.
  struct Outcome {
    os::ExitStatus status;
    std::string said;
  };
  Outcome run_to_end() const;
  pid_t pid() const { return launcher_ ? launcher_->pid() : -1; }
  os::ExitStatus stop(int signal);
  // The first one let in.
  Node node() const;
  frame::LaunchPlan plan(const std::string& id) const;

  std::filesystem::path scratch_;
  std::optional<os::Child> launcher_;
};

bool exists(const std::string& path);
std::size_t count_fds(pid_t pid);
// Asks again and again, for at most five seconds.
bool comes_true(const std::function<bool()>& question);
bool is_alive(const os::Fd& pidfd);

}  // namespace cordon::service
