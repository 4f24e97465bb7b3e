// SPDX-License-Identifier: Apache-2.0
// One process that the host has asked for: its streams, its end, and what the host is still to be
// told.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "guest/input_stream.h"
#include "guest/output_stream.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

// What a descriptor in the epoll set is for.
enum class Role : std::uint8_t {
  control,
  children,
  spawner,
  file,
  in,
  out,
  err,
  tunnel_answer,
  tunnel,
  watch,
};
constexpr std::uint64_t tag_of(Role role, std::uint32_t number = 0) noexcept {
  return (std::uint64_t{number} << 8U) | static_cast<std::uint8_t>(role);
}

class Process {
 public:
  Process(const frame::Start& start, std::size_t ring);

  // Our ends, as the spawner made them.
  Status open(const os::Epoll& epoll, std::vector<os::Fd> fds);
  void set_pid(pid_t pid) noexcept { pid_ = pid; }
  void set_running() noexcept { running_ = started_owed_ = true; }
  // No program ran; whatever was opened is closed.
  void fail(const os::Epoll& epoll, std::string step, int error_number);
  // It was reaped. What it had written is read first, as far as the rings hold it: all that is sent
  // before the exit.
  Status set_exit(const os::Epoll& epoll, const frame::Exited& exit);

  // Appends at most one frame of each kind that is owed. False: nothing was.
  bool append_owed(std::vector<std::byte>& out);
  void resume() noexcept;
  void acknowledge_exit() noexcept;
  // Where it stands, for a host that goes on with it.
  frame::KnownProcess known() const;
  // The host knows the end and has all the bytes.
  bool forgotten() const noexcept;

  Status resize(const frame::WindowSize& size) const;
  // To whom a signal for the group goes: the terminal's foreground group, or the process's own.
  pid_t group() const noexcept;
  // By the terminal's herald. False: it has none, signal group().
  bool signal_foreground(int number) const noexcept;

  // 0 when there is none to signal: not born yet, or reaped already.
  pid_t live_pid() const noexcept { return exit_ || failure_ ? 0 : pid_; }
  bool failed() const noexcept { return failure_.has_value(); }
  OutputStream& output(frame::Stream stream) noexcept {
    return stream == frame::Stream::out ? out_ : err_;
  }
  InputStream& input() noexcept { return in_; }

 private:
  bool append_streams(std::vector<std::byte>& out);
  bool owes_exit() const noexcept;

  std::uint32_t number_;
  std::string name_;  // of its program, for people
  bool has_input_;
  bool terminal_;
  pid_t pid_ = 0;
  bool running_ = false;
  bool started_owed_ = false;
  std::optional<frame::Failed> failure_;
  std::optional<frame::Exited> exit_;
  bool end_owed_ = false;  // the failure or the exit
  bool end_acknowledged_ = false;
  std::array<std::uint64_t, 2> before_exit_{};  // bytes of each stream that go before it
  std::optional<std::uint64_t> taken_told_ = 0;
  os::Fd master_;
  os::Fd orders_;  // of its herald, where the terminal needs one
  OutputStream out_;
  OutputStream err_;
  InputStream in_;
};

}  // namespace cordon::guest
