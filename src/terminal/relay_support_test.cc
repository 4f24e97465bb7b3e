// SPDX-License-Identifier: Apache-2.0
// The job and the shell of relay_test_support.h.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "terminal/escape_filter.h"
#include "terminal/local_terminal.h"
#include "terminal/parameters.h"
#include "terminal/relay_test_support.h"

namespace cordon::terminal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr os::WindowSize kSize{24, 80, 0, 0};

std::string some(const os::Fd& fd) {
  std::array<char, 4096> bytes{};
  const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
  return got > 0 ? std::string{bytes.data(), static_cast<std::size_t>(got)} : std::string{};
}

// Waits for room; the descriptor may be non-blocking.
void put(const os::Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd.get(), bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    if (put < 0 && errno != EAGAIN && errno != EINTR) return;
    pollfd one{.fd = fd.get(), .events = POLLOUT, .revents = 0};
    ::poll(&one, 1, 100);
  }
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGWINCH, SIGCHLD, SIGCONT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

// Ignored signals stay ignored through fork and exec, and whoever started the tests may ignore
// some.
void reset_signals() {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU})
    (void)::signal(number, SIG_DFL);
}

void attach(const os::Fd& terminal) {
  for (const int fd : {0, 1, 2}) ::dup2(terminal.get(), fd);
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t start_on(const os::Pty& pty, const Program& program) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!os::make_controlling_terminal(pty.slave)) ::_exit(120);
  attach(pty.slave);
  (void)os::set_cloexec_from(3);
  ::_exit(program());
}

// The loop that a caller of these classes writes.
class Relay {
 public:
  Relay(LocalTerminal& local, os::Pty inner, pid_t program)
      : local_{local}, inner_{std::move(inner)}, program_{program} {
    const sigset_t set = handled_signals();
    signals_ = os::Fd{::signalfd(-1, &set, SFD_CLOEXEC)};
    inner_.slave = os::Fd{};
  }

  int run() {
    while (!ended_) {
      std::array<pollfd, 3> ready{{{local_.fd().get(), POLLIN, 0},
                                   {inner_.master.get(), POLLIN, 0},
                                   {signals_.get(), POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if ((ready[1].revents & POLLIN) != 0) show();
      if ((ready[0].revents & POLLIN) != 0) put(inner_.master, some(local_.fd()));
      if ((ready[2].revents & POLLIN) != 0) handle_signal();
    }
    // What the program said before its end is still shown.
    pollfd rest{.fd = inner_.master.get(), .events = POLLIN, .revents = 0};
    while (::poll(&rest, 1, 0) > 0 && (rest.revents & POLLIN) != 0) {
      if (!show()) break;
    }
    local_.leave();
    return code_;
  }

 private:
  bool show() {
    const std::string said = some(inner_.master);
    std::string out;
    filter_.feed(said, out);
    local_.follow(filter_);
    put(local_.fd(), out);
    return !said.empty();
  }

  void handle_signal() {
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
    int status = 0;
    switch (info.ssi_signo) {
      case SIGCONT:
        (void)local_.resume();
        [[fallthrough]];
      case SIGWINCH:
        if (const auto size = local_.size()) (void)os::set_window_size(inner_.master, *size);
        return;
      case SIGCHLD:
        if (::waitpid(program_, &status, WNOHANG) != program_) return;
        code_ = code_of(status);
        break;
      default:
        ::kill(program_, SIGKILL);
        code_ = 128 + static_cast<int>(info.ssi_signo);
    }
    ended_ = true;
  }

  LocalTerminal& local_;
  os::Pty inner_;
  pid_t program_;
  os::Fd signals_;
  EscapeFilter filter_;
  bool ended_ = false;
  int code_ = 0;
};

// The row that the program last went to: vim takes any other answer for a key.
std::string cursor_report(const std::string& shown) {
  const std::size_t end = shown.rfind('H');
  const std::size_t begin = end == std::string::npos ? end : shown.rfind("\x1b[", end);
  const int row =
      begin == std::string::npos ? 0 : number_or(std::string_view{shown}.substr(begin + 2), 0);
  return fmt::format("\x1b[{};2R", std::max(row, 1));
}

// A shell as far as jobs go: it gives the terminal to the job, takes it back when the job stops or
// ends, and puts a stopped job to the foreground again at once.
std::string run_job(const os::Fd& terminal, const Job& job, bool foreground,
                    const os::Fd& reports) {
  const auto cooked = os::terminal_attributes(terminal);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    reset_signals();
    // The shell has to give us the terminal first.
    for (int i = 0; foreground && !os::in_foreground(terminal) && i < 1000; ++i) ::usleep(1000);
    ::_exit(job(terminal));
  }
  ::setpgid(child, child);
  if (foreground) (void)os::set_foreground_group(terminal, child);
  (void)os::write_all(reports, fmt::format("{}\n", child));
  int status = 0;
  int stops = 0;
  while (::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
    ++stops;
    (void)os::set_foreground_group(terminal, ::getpgrp());
    (void)os::set_terminal_attributes(terminal, *cooked);
    ::usleep(50'000);
    if (foreground) (void)os::set_foreground_group(terminal, child);
    ::kill(-child, SIGCONT);
  }
  (void)os::set_foreground_group(terminal, ::getpgrp());
  const auto after = os::terminal_attributes(terminal);
  ::usleep(150'000);  // answers that are still on their way
  (void)os::set_terminal_attributes(terminal, os::raw(*cooked));
  (void)os::set_nonblocking(terminal, true);
  const std::string left = some(terminal);
  const bool same = after && *after == *cooked;
  const std::string ended = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                : fmt::format("exit {}", WEXITSTATUS(status));
  return fmt::format("{}\n{}\n{}\n{}", ended, same ? 1 : 0, stops, left);
}

}  // namespace

std::string find_program(std::string_view name) {
  for (const std::string_view dir : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    std::string path = fmt::format("{}/{}", dir, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Program exec(std::vector<std::string> arguments) {
  return [arguments = std::move(arguments)] {
    const std::vector<std::string> environment{
        "TERM=xterm-256color", "PS1=$ ",
        "LC_ALL=C.UTF-8",      "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=/nonexistent",   "LESSHISTFILE=-",
        "SHELL=/bin/sh"};
    (void)os::execve(find_program(arguments.at(0)).c_str(), arguments, environment);
    return 127;
  };
}

Job relay(Program program) {
  return [program = std::move(program)](const os::Fd& terminal) {
    const sigset_t set = handled_signals();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    auto local = LocalTerminal::open(terminal);
    if (!local || !local->enter()) return 121;
    auto inner = os::open_pty(*local->size());
    if (!inner) return 122;
    const pid_t child = start_on(*inner, program);
    return Relay{*local, *std::move(inner), child}.run();
  };
}

Job directly(Program program) {
  return [program = std::move(program)](const os::Fd& terminal) {
    attach(terminal);
    return program();
  };
}

Session::Session(Job job, Options options) : options_{options} {
  auto pty = os::open_pty(kSize);
  auto reports = os::pipe2();
  if (!pty || !reports) return;
  pty_ = *std::move(pty);
  reports_ = *std::move(reports);
  auto shell = os::Child::start({}, [&] {
    pty_.master = os::Fd{};
    reports_.read = os::Fd{};
    ::setsid();
    (void)::signal(SIGHUP, SIG_IGN);
    if (!os::make_controlling_terminal(pty_.slave)) return 1;
    const std::string report = run_job(pty_.slave, job, options.foreground, reports_.write);
    return os::write_all(reports_.write, report) ? 0 : 1;
  });
  if (!shell) return;
  shell_ = std::make_unique<os::Child>(*std::move(shell));
  reports_.write = os::Fd{};
  pty_.slave = os::Fd{};
  std::string line;
  for (char c = 0; ::read(reports_.read.get(), &c, 1) == 1 && c != '\n';) line += c;
  job_ = number_or(line, 0);
}

void Session::type(std::string_view bytes) const { put(pty_.master, bytes); }
void Session::resize(os::WindowSize size) const { (void)os::set_window_size(pty_.master, size); }

bool Session::pump(milliseconds limit) {
  pollfd one{.fd = pty_.master.get(), .events = POLLIN, .revents = 0};
  if (::poll(&one, 1, static_cast<int>(limit.count())) <= 0) return true;
  const std::string said = some(pty_.master);
  shown_ += said;
  answer();
  return !said.empty();
}

// As a terminal does.
void Session::answer() {
  constexpr std::pair<std::string_view, std::string_view> kAnswers[] = {
      {"\x1b[c", "\x1b[?62;22c"},
      {"\x1b[>c", "\x1b[>41;354;0c"},
      {"\x1b[6n", ""},
      {"\x1b[5n", "\x1b[0n"},
      {"\x1b]11;?\a", "\x1b]11;rgb:0000/0000/0000\a"},
  };
  for (; answered_ < shown_.size(); ++answered_) {
    const std::string_view rest = std::string_view{shown_}.substr(answered_);
    const auto* found = std::ranges::find_if(
        kAnswers, [&](const auto& one) { return rest.starts_with(one.first); });
    if (found != std::end(kAnswers)) {
      std::this_thread::sleep_for(options_.answers_after);
      type(found->second.empty() ? cursor_report(shown_.substr(0, answered_)) : found->second);
    } else if (rest.size() < 8 && rest[0] == '\x1b') {
      return;  // a question may be cut at the end: look again when the rest is here
    }
  }
}

bool Session::provokes(std::string_view bytes, std::string_view text) {
  for (int i = 0; i < 20; ++i) {
    type(bytes);
    if (shows(text, milliseconds{500})) return true;
  }
  return false;
}

bool Session::shows(std::string_view text, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  while (steady_clock::now() < deadline) {
    const std::size_t at = shown_.find(text, waited_);
    if (at != std::string::npos) {
      waited_ = at + text.size();
      return true;
    }
    if (!pump(milliseconds{50}) && shown_.find(text, waited_) == std::string::npos) return false;
  }
  return false;
}

Report Session::finish() {
  const auto deadline = steady_clock::now() + std::chrono::seconds{15};
  pollfd ended{.fd = reports_.read.get(), .events = POLLIN, .revents = 0};
  while (::poll(&ended, 1, 0) == 0 && steady_clock::now() < deadline) pump(milliseconds{20});
  if (steady_clock::now() >= deadline) return {"no end", false, {}, 0};
  const auto text = os::read_all(reports_.read, 1U << 16U);
  if (!text) return {text.error().text(), false, {}, 0};
  pump(milliseconds{0});
  Report report;
  std::string_view rest = *text;
  const auto line = [&] {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    return std::string{one};
  };
  report.ended = line();
  report.same_attributes = line() == "1";
  report.stops = number_or(line(), 0);
  report.left_over = rest;
  return report;
}

}  // namespace cordon::terminal
