// SPDX-License-Identifier: Apache-2.0
// No pidfd here, though they would be simpler: this also runs where the probe finds that there are
// none. The pid is a child that we have not reaped, so it can mean no other process.
#include "os/probe_trial.h"

#include <cerrno>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/file.h"
#include "os/prctl.h"

namespace cordon::os {
namespace {

constexpr std::size_t kAnswerBytes = 4096;  // PIPE_BUF: one write arrives as one read
// A killed child ends at once, unless the kernel itself hangs: then we do not hang with it.
constexpr std::chrono::milliseconds kReapLimit{200};

// A digit for the support, then the detail, a zero byte and the remedy.
std::string encode(const Fact& fact) {
  std::string text{static_cast<char>('0' + static_cast<int>(fact.support))};
  text += fact.detail;
  text += '\0';
  text += fact.remedy;
  return text.substr(0, kAnswerBytes);
}

Fact decode(const std::string& text) {
  const std::size_t zero = std::min(text.find('\0'), text.size());
  return {.support = static_cast<Support>(text[0] - '0'),
          .detail = text.substr(1, zero - 1),
          .remedy = zero < text.size() ? text.substr(zero + 1) : ""};
}

constexpr std::string_view kLate = "did not answer within";

std::string told(const std::optional<int>& ended) {
  if (!ended) return "the probe died and cannot be reaped";
  const int status = *ended;
  if (WIFSIGNALED(status)) {
    return fmt::format("the probe was killed by signal {}", WTERMSIG(status));
  }
  return fmt::format("the probe ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

Fact ok_fact(std::string detail) { return {.support = Support::ok, .detail = std::move(detail)}; }

Fact refused_fact(const Error& error, std::string remedy) {
  const int cause = error.cause().value();
  const bool lacking = cause == ENOSYS || cause == EOPNOTSUPP || cause == ENODEV;
  return {.support = lacking ? Support::absent : Support::blocked,
          .detail = error.text(),
          .remedy = std::move(remedy)};
}

bool is_late(const Fact& fact) { return fact.detail.starts_with(kLate); }

bool readable_before(const Fd& fd, Ticks deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, std::max(0, static_cast<int>(left.count())));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

Trial Trial::start(const Experiment& experiment) {
  Trial trial;
  auto answer = pipe2();
  if (!answer) {
    trial.failure_ = answer.error().text();
    return trial;
  }
  const pid_t parent = ::getpid();
  trial.pid_ = ::fork();
  if (trial.pid_ == 0) {
    // Without it a doctor that is killed would leave a hanging experiment behind.
    if (!set_parent_death_signal(SIGKILL) || ::getppid() != parent) ::_exit(98);
    answer->read = Fd{};
    const Status sent = write_all(answer->write, encode(experiment()));
    ::_exit(sent ? 0 : 99);  // no destructors: what we hold is the parent's
  }
  if (trial.pid_ < 0) trial.failure_ = Error::from_errno("fork").text();
  trial.answer_ = std::move(answer->read);
  return trial;
}

Trial::Trial(Trial&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)},
      answer_{std::move(other.answer_)},
      failure_{std::move(other.failure_)} {}

Trial::~Trial() { static_cast<void>(end()); }

std::optional<int> Trial::end() noexcept {
  if (pid_ <= 0) return std::nullopt;
  ::kill(pid_, SIGKILL);
  const Ticks until = std::chrono::steady_clock::now() + kReapLimit;
  int status = 0;
  for (useconds_t pause = 50;; pause = std::min<useconds_t>(pause * 2, 2000)) {
    const pid_t reaped = ::waitpid(pid_, &status, WNOHANG | __WALL);
    if (reaped == pid_) break;
    const bool failed = reaped < 0 && errno != EINTR;
    if (failed || std::chrono::steady_clock::now() > until) return std::nullopt;
    ::usleep(pause);
  }
  pid_ = -1;
  return status;
}

Fact Trial::finish(const TrialLimit& limit) && {
  if (pid_ <= 0) return {.support = Support::blocked, .detail = failure_};
  if (!readable_before(answer_, limit.deadline)) {
    static_cast<void>(end());
    return {.support = Support::blocked,
            .detail = fmt::format("{} {} ms", kLate, limit.span.count())};
  }
  std::string answer(kAnswerBytes, '\0');
  const ssize_t length = ::read(answer_.get(), answer.data(), answer.size());
  const std::optional<int> ended = end();
  if (length <= 0) return {.support = Support::blocked, .detail = told(ended)};
  answer.resize(static_cast<std::size_t>(length));
  return decode(answer);
}

}  // namespace cordon::os
