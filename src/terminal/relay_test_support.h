// SPDX-License-Identifier: Apache-2.0
// A person at a terminal, a shell that runs jobs on it, and a job that relays it to a program on a
// terminal of its own: the way `cordon run` stands between both.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/fd.h"
#include "os/file.h"
#include "os/process.h"
#include "os/terminal.h"

namespace cordon::terminal {

// Runs on the program's terminal, as its session's leader.
using Program = std::function<int()>;

// Replaces itself by a program of the PATH, with an environment of few words.
Program exec(std::vector<std::string> arguments);
// Empty when it is not installed.
std::string find_program(std::string_view name);

// What the job does; the result is its exit code. `relay` is the subject of the tests, the others
// show that they could fail.
using Job = std::function<int(const os::Fd& terminal)>;
Job relay(Program program);
Job directly(Program program);  // without anything between the program and the caller's terminal

struct Report {
  std::string ended;  // of the job: "exit 0", "signal 9"
  bool same_attributes = false;
  std::string left_over;  // what the shell would read next
  int stops = 0;          // how often the job was stopped
};

// The person's side.
class Session {
 public:
  struct Options {
    bool foreground = true;
    std::chrono::milliseconds answers_after{0};  // to the terminal's questions
  };
  explicit Session(Job job) : Session{std::move(job), Options{}} {}
  Session(Job job, Options options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;  // closing the terminal hangs up all that runs on it

  void type(std::string_view bytes) const;
  void resize(os::WindowSize size) const;
  // Whether `text` has been shown after what was last waited for, within some seconds.
  bool shows(std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds{10});
  // Types until it is shown: what is typed before a program is ready goes to another.
  bool provokes(std::string_view bytes, std::string_view text);
  // What was shown, all of it.
  const std::string& shown() const noexcept { return shown_; }
  pid_t job() const noexcept { return job_; }

  // Waits for the job's end.
  Report finish();

 private:
  bool pump(std::chrono::milliseconds limit);
  void answer();

  Options options_;
  os::Pty pty_;
  os::Pipe reports_;
  std::unique_ptr<os::Child> shell_;
  pid_t job_ = 0;
  std::string shown_;
  std::size_t waited_ = 0;    // how much of it `shows` has passed
  std::size_t answered_ = 0;  // how much of it questions were sought in
};

}  // namespace cordon::terminal
