// SPDX-License-Identifier: Apache-2.0
#include "terminal/local_terminal.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "os/file.h"

namespace cordon::terminal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMostWriting{200};
constexpr milliseconds kMostAnswering{400};  // a far terminal's round trip

// Whether `fd` became ready before `deadline`.
bool is_ready(const os::Fd& fd, short events, steady_clock::time_point deadline) noexcept {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left <= milliseconds{0}) return false;
    pollfd one{.fd = fd.get(), .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left.count()));
    if (ready > 0) return (one.revents & events) != 0;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool write_within(const os::Fd& fd, std::string_view bytes, milliseconds limit) noexcept {
  const auto deadline = steady_clock::now() + limit;
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd.get(), bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    const bool may_recover = put == 0 || errno == EAGAIN || errno == EINTR;
    if (!may_recover || !is_ready(fd, POLLOUT, deadline)) return false;
  }
  return true;
}

}  // namespace

LocalTerminal::LocalTerminal(os::Fd fd, os::TerminalAttributes attributes, bool shared,
                             bool was_nonblocking)
    : fd_{std::move(fd)}, before_{attributes}, shared_{shared}, was_nonblocking_{was_nonblocking} {}

Result<LocalTerminal> LocalTerminal::open(const os::Fd& terminal) {
  if (!os::is_terminal(terminal)) return Error{Errc::invalid, "not a terminal"};
  TRY(auto attributes, os::terminal_attributes(terminal));
  if (auto own = os::openat(os::at_cwd(), os::proc_path(terminal).c_str(), O_RDWR | O_NONBLOCK))
    return LocalTerminal{*std::move(own), attributes, false, true};
  // A terminal of another user, as after `su`: only the inherited descriptor is ours.
  const int flags = ::fcntl(terminal.get(), F_GETFL);
  if (flags < 0) return Error::from_errno("F_GETFL");
  TRY(auto same, os::duplicate(terminal));
  TRY_DO(os::set_nonblocking(same, true));
  return LocalTerminal{std::move(same), attributes, true, (flags & O_NONBLOCK) != 0};
}

LocalTerminal::~LocalTerminal() {
  if (!fd_) return;
  leave();
  if (shared_) (void)os::set_nonblocking(fd_, was_nonblocking_);
}

Status LocalTerminal::enter() {
  if (!os::in_foreground(fd_)) {
    return Error{Errc::unavailable, "another process group has the terminal in the foreground"};
  }
  TRY_DO(os::set_terminal_attributes(fd_, os::raw(before_)));
  if (!rescue_) rescue_ = std::make_unique<Rescue>(fd_, before_);
  rescue_->update(end_);
  return {};
}

Status LocalTerminal::resume() {
  if (!is_raw() || !os::in_foreground(fd_)) return {};
  return os::set_terminal_attributes(fd_, os::raw(before_));
}

void LocalTerminal::follow(const EscapeFilter& filter) {
  asked_ = filter.asked();
  asked_status_ = filter.asked_status();
  std::string end = filter.restore_sequence();
  if (end == end_) return;
  end_ = std::move(end);
  if (rescue_) rescue_->update(end_);
}

// Answers come in the order of the questions: the answer to a last question of our own tells that
// all others are in. When the program asked the same, one answer tells nothing, so we wait.
void LocalTerminal::await_answers() const noexcept {
  static constexpr std::string_view kQuestion = "\x1b[5n";
  static constexpr std::string_view kAnswer = "\x1b[0n";
  if (!write_within(fd_, kQuestion, kMostWriting)) return;
  const auto deadline = steady_clock::now() + kMostAnswering;
  std::size_t matched = 0;
  while (is_ready(fd_, POLLIN, deadline)) {
    std::array<char, 256> bytes{};
    const ssize_t got = ::read(fd_.get(), bytes.data(), bytes.size());
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
    for (ssize_t i = 0; i < got; ++i) {
      const char byte = bytes.at(static_cast<std::size_t>(i));
      matched = byte == kAnswer[matched] ? matched + 1 : (byte == kAnswer[0] ? 1 : 0);
      if (matched < kAnswer.size()) continue;
      if (!asked_status_) return;
      matched = 0;
    }
  }
}

void LocalTerminal::leave() noexcept {
  if (!is_raw()) return;
  if (os::in_foreground(fd_)) {
    (void)write_within(fd_, end_, kMostWriting);
    if (asked_) await_answers();
    // A terminal that has gone away needs nothing any more.
    (void)os::set_terminal_attributes(fd_, before_);
    (void)os::flush_input(fd_);
  }
  rescue_.reset();
  end_.clear();
}

}  // namespace cordon::terminal
