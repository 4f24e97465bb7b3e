// SPDX-License-Identifier: Apache-2.0
#include "guest/process.h"

#include <cerrno>
#include <csignal>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include "guest/herald.h"

namespace cordon::guest {

Process::Process(const frame::Start& start, std::size_t ring)
    : number_{start.process},
      name_{start.arguments.empty() ? std::string{}
                                    : start.arguments[0].substr(0, frame::kLongestProcessName)},
      has_input_{start.input},
      terminal_{start.terminal.has_value()},
      out_{number_, frame::Stream::out, ring, tag_of(Role::out, number_)},
      err_{number_, frame::Stream::err, ring, tag_of(Role::err, number_)},
      in_{tag_of(Role::in, number_)} {}

Status Process::open(const os::Epoll& epoll, std::vector<os::Fd> fds) {
  if (terminal_) {
    if (fds.empty() || fds.size() > 2) return Error::from_errno("streams", EBADMSG);
    TRY(master_, os::duplicate(fds[0]));
    TRY(os::Fd writing, os::duplicate(fds[0]));
    TRY_DO(out_.open(epoll, std::move(fds[0])));
    if (fds.size() == 2) {
      TRY(os::Fd keys, os::duplicate(fds[1]));
      in_.give_keys_to(std::move(keys));
      orders_ = std::move(fds[1]);
    }
    TRY_DO(in_.open(epoll, std::move(writing), true));
    return has_input_ ? Status{} : in_.give(epoll, 0, {}, true);
  }
  if (fds.size() != 3) return Error::from_errno("streams", EBADMSG);
  TRY_DO(err_.open(epoll, std::move(fds[2])));
  TRY_DO(out_.open(epoll, std::move(fds[1])));
  if (has_input_) return in_.open(epoll, std::move(fds[0]), false);
  in_.close(epoll);  // with our end of the pipe: the program's input ends at once
  return {};
}

void Process::fail(const os::Epoll& epoll, std::string step, int error_number) {
  failure_ =
      frame::Failed{.process = number_, .step = std::move(step), .error_number = error_number};
  end_owed_ = true;
  exit_.reset();
  master_ = os::Fd{};
  orders_ = os::Fd{};
  out_.end(epoll);
  err_.end(epoll);
  in_.close(epoll);
}

Status Process::set_exit(const os::Epoll& epoll, const frame::Exited& exit) {
  // With the leader of its session a terminal hangs up; one that needs a herald does not tell it.
  TRY_DO(orders_ ? out_.drain_to_end(epoll) : out_.drain(epoll));
  TRY_DO(err_.drain(epoll));
  before_exit_ = {out_.received(), err_.received()};
  exit_ = exit;
  if (orders_) in_.close(epoll);
  orders_ = os::Fd{};
  end_owed_ = true;
  return {};
}

bool Process::owes_exit() const noexcept {
  return end_owed_ && exit_ && running_ && out_.sent() >= before_exit_[0] &&
         err_.sent() >= before_exit_[1];
}

bool Process::append_streams(std::vector<std::byte>& out) {
  const bool from_out = out_.append_owed(out);
  const bool from_err = !terminal_ && err_.append_owed(out);
  return from_out || from_err;
}

bool Process::append_owed(std::vector<std::byte>& out) {
  if (failure_) {
    if (!std::exchange(end_owed_, false)) return false;
    append(out, *failure_);
    return true;
  }
  if (!running_) return false;
  bool some = false;
  if (std::exchange(started_owed_, false)) {
    append(out, frame::Started{.process = number_, .pid = static_cast<std::uint32_t>(pid_)});
    some = true;
  }
  if (taken_told_ != in_.taken()) {
    taken_told_ = in_.taken();
    append(out, frame::InputTaken{.process = number_, .offset = in_.taken()});
    some = true;
  }
  some = append_streams(out) || some;
  if (owes_exit()) {
    end_owed_ = false;
    append(out, *exit_);  // NOLINT(bugprone-unchecked-optional-access): owes_exit looked
    some = true;
  }
  return some;
}

void Process::resume() noexcept {
  started_owed_ = running_;
  end_owed_ = (failure_ || exit_) && !end_acknowledged_;
  if (in_.taken() > 0) taken_told_.reset();
  out_.resume();
  err_.resume();
}

void Process::acknowledge_exit() noexcept {
  if (!exit_ && !failure_) return;
  end_acknowledged_ = true;
  end_owed_ = false;
}

frame::KnownProcess Process::known() const {
  return {.process = number_,
          .pid = static_cast<std::uint32_t>(running_ ? pid_ : 0),
          .name = name_,
          .terminal = terminal_,
          .ended = exit_ || failure_,
          .end_acknowledged = end_acknowledged_,
          .out_acknowledged = out_.acknowledged(),
          .err_acknowledged = err_.acknowledged(),
          .input_given = in_.given(),
          .input_ended = in_.ended() || !has_input_};
}

bool Process::forgotten() const noexcept {
  if (!end_acknowledged_) return false;
  return failure_ || (out_.finished() && (terminal_ || err_.finished()));
}

Status Process::resize(const frame::WindowSize& size) const {
  if (!master_) return {};
  const winsize window{.ws_row = size.rows, .ws_col = size.columns};
  if (::ioctl(master_.get(), TIOCSWINSZ, &window) != 0) return Error::from_errno("TIOCSWINSZ");
  if (orders_) order(orders_, SIGWINCH, Cause::host);
  return {};
}

bool Process::signal_foreground(int number) const noexcept {
  if (!orders_) return false;
  order(orders_, number, Cause::host);
  return true;
}

pid_t Process::group() const noexcept {
  const pid_t foreground = master_ ? ::tcgetpgrp(master_.get()) : 0;
  return foreground > 1 ? foreground : live_pid();
}

}  // namespace cordon::guest
