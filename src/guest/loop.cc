// SPDX-License-Identifier: Apache-2.0
#include "guest/loop.h"

#include <algorithm>
#include <cerrno>
#include <malloc.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "os/prctl.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

constexpr std::size_t kControlAtOnce = std::size_t{64} << 10U;
constexpr std::size_t kSendAtOnce = std::size_t{128} << 10U;
constexpr std::size_t kWorthReturning = std::size_t{8} << 10U;
// With more answers than this waiting, the host is not heard until it has listened.
constexpr std::size_t kMostReplies = std::size_t{1} << 20U;

// Ignored signals pass through fork and exec: whatever our ancestors ignored, a workload must not.
Status ignore_nothing() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    const bool fixed = number == SIGKILL || number == SIGSTOP;
    // Those that the C library keeps for itself are refused, and nobody could have ignored them.
    if (!fixed && ::sigaction(number, &standard, nullptr) != 0 && errno != EINVAL) {
      return Error::from_errno("sigaction");
    }
  }
  return {};
}

// All signals wait; the end of a child is read from a descriptor.
Result<os::Fd> take_signals() {
  sigset_t all;
  ::sigfillset(&all);
  if (::sigprocmask(SIG_SETMASK, &all, nullptr) != 0) return Error::from_errno("sigprocmask");
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  const int fd = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return Error::from_errno("signalfd");
  return os::Fd{fd};
}

}  // namespace

Loop::Loop(Control control, os::Fd children, os::Epoll epoll, const GuestOptions& options)
    : control_{std::move(control)},
      children_{std::move(children)},
      epoll_{std::move(epoll)},
      options_{options},
      starter_{epoll_,
               {.find_filter = options.find_filter,
                .tag = tag_of(Role::spawner),
                .patience = options.patience,
                .idle = options.idle,
                .witness = options.witness,
                .ready_memory = options.usual != nullptr}} {}

Status Loop::watch_fixed() {
  TRY_DO(control_.watch(epoll_, EPOLLIN, tag_of(Role::control)));
  return epoll_.add(children_, EPOLLIN, tag_of(Role::children));
}

std::optional<std::chrono::milliseconds> Loop::patience() const {
  auto deadline = starter_.deadline();
  const auto look = stillness_.deadline();
  if (!deadline || (look && *look < *deadline)) deadline = look;
  if (!deadline) return std::nullopt;
  const auto left = *deadline - Starter::Clock::now();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{0});
}

GuestEnd Loop::turn() {
  if (options_.own_kernel) {
    if (auto kills = OomKills::open()) oom_kills_.emplace(*std::move(kills));
  }
  // No plan yet: what is the same for all is done meanwhile, or for most.
  if (options_.usual != nullptr) {
    static_cast<void>(starter_.make_usual(options_.usual->fences));
  } else if (!control_.is_readable()) {
    static_cast<void>(starter_.make_ahead());
  }
  if (options_.await_control) {
    auto control = options_.await_control();
    if (!control) return GuestEnd::stream_ended;
    control_ = *std::move(control);
  }
  Status going = watch_fixed();
  while (going) {
    const auto ready = epoll_.wait(patience());
    if (!ready) break;
    for (const os::EpollEvent& event : *ready) {
      going = dispatch(event);
      if (!going) break;
    }
    if (going) going = after_events();
  }
  if (end_ == GuestEnd::could_not_begin) static_cast<void>(write_control());
  kill_all(SIGKILL);
  return end_;
}

Status Loop::dispatch(const os::EpollEvent& event) {
  const auto number = static_cast<std::uint32_t>(event.tag >> 8U);
  const auto role = static_cast<Role>(event.tag & 0xFFU);
  switch (role) {
    case Role::control:
      blocked_ = blocked_ && (event.events & EPOLLOUT) == 0;
      if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) return read_control();
      return {};
    case Role::children: {
      signalfd_siginfo signal{};
      static_cast<void>(::read(children_.get(), &signal, sizeof signal) < 0);
      return reap();
    }
    case Role::spawner:
      return on_start_events(starter_.hear());
    case Role::file:
      if (auto answer = files_.hear(epoll_, number)) reply(*std::move(answer));
      return {};
    case Role::tunnel_answer:
      tunnels_.hear_answer(epoll_, number);
      return {};
    case Role::tunnel:
      tunnels_.move(epoll_, number);
      return {};
    case Role::watch:
      for (const frame::FromGuest& said : watches_.hear(epoll_, number)) reply(said);
      return {};
    case Role::in:
    case Role::out:
    case Role::err:
      break;
  }
  Process* process = find(number);
  if (process == nullptr) return {};
  if (role == Role::in) return process->input().flush(epoll_);
  return process->output(role == Role::out ? frame::Stream::out : frame::Stream::err).fill(epoll_);
}

Status Loop::after_events() {
  TRY_DO(on_start_events(starter_.advance()));
  if (const auto look = stillness_.deadline(); look && *look <= Stillness::Clock::now()) {
    stillness_.look_again();
  }
  if (setup_ && tree_stands_ && !stands_ && starter_.pid() == 0) return fall("spawner", ETIMEDOUT);
  if (!blocked_) TRY_DO(write_control());
  const auto gone =
      std::erase_if(processes_, [](const auto& entry) { return entry.second.forgotten(); });
  watches_.pause(epoll_, replies_.size() >= kMostReplies);
  // Idle: what the way here has left in the heap goes back to the sandbox.
  if (gone > 0 && processes_.empty()) static_cast<void>(::malloc_trim(0));
  watch_control();
  return {};
}

Status Loop::read_control() {
  std::vector<std::byte> buffer(control_.readable_bytes(kControlAtOnce));
  auto received = control_.receive(buffer);
  if (!received && os::would_wait(received.error())) return {};
  if (!received || received->bytes == 0) {
    end_ = GuestEnd::stream_ended;
    return Error{Errc::unavailable, "the stream has ended"};
  }
  if (!received->fds.empty()) {
    switch_control(std::move(received->fds.front()));
    return {};
  }
  cutter_.push(std::span{buffer}.first(received->bytes));
  while (true) {
    const auto next = cutter_.next();
    const auto body = next ? *next : std::nullopt;
    if (next && !body) return {};
    const Status judged = body ? on_body(*body) : Status{next.error()};
    if (judged) continue;
    if (end_ == GuestEnd::out_of_resources) end_ = GuestEnd::protocol_error;
    return judged;
  }
}

// Whoever had the old stream may have died between two bytes of a frame; on a new one nothing is
// half sent, in neither direction.
void Loop::switch_control(os::Fd control) {
  control_.leave(epoll_);
  control_ = Control{std::move(control)};
  static_cast<void>(control_.watch(epoll_, EPOLLIN, tag_of(Role::control)));
  cutter_ = frame::FrameCutter{};
  sending_ = std::vector<std::byte>{};
  sent_ = 0;
  blocked_ = false;
  starter_.await_requests();
  static_cast<void>(on_frame(frame::Resume{}));
}

void Loop::watch_control() {
  const std::uint32_t wanted =
      (replies_.size() < kMostReplies ? EPOLLIN : 0U) | (blocked_ ? EPOLLOUT : 0U);
  static_cast<void>(control_.watch(epoll_, wanted, tag_of(Role::control)));
}

// A part of what is owed, each process in its turn. False: nothing is.
bool Loop::collect_owed() {
  if (std::exchange(hello_owed_, false) && setup_) {
    const auto version = std::min(setup_->most_version, frame::kGuestVersion);
    for (const frame::FromGuest& first : {frame::FromGuest{frame::Hello{.version = version}},
                                          frame::FromGuest{known_processes()}}) {
      const auto bytes = encode(first);
      sending_.insert(sending_.end(), bytes.begin(), bytes.end());
    }
  }
  sending_.insert(sending_.end(), replies_.begin(), replies_.end());
  replies_ = std::vector<std::byte>{};
  bool some = true;
  while (some && sending_.size() < kSendAtOnce) {
    some = false;
    auto next = processes_.upper_bound(turn_);
    for (std::size_t left = processes_.size(); left > 0 && sending_.size() < kSendAtOnce; --left) {
      if (next == processes_.end()) next = processes_.begin();
      turn_ = next->first;
      some = next->second.append_owed(sending_) || some;
      ++next;
    }
    // A share of their own, whatever programs write.
    some = tunnels_.append_owed(epoll_, sending_, sending_.size() + frame::kMostData) || some;
  }
  return !sending_.empty();
}

Status Loop::write_control() {
  while (true) {
    if (sent_ == sending_.size()) {
      sending_.clear();
      sent_ = 0;
      if (!collect_owed()) {
        const bool large = sending_.capacity() >= kWorthReturning;
        sending_ = std::vector<std::byte>{};
        // Idle: what the way here has left in the heap goes back to the sandbox.
        if (large) static_cast<void>(::malloc_trim(0));
        return {};
      }
    }
    const auto count = control_.send(std::span{sending_}.subspan(sent_));
    if (!count) {
      // Full; or nobody is there any more. That is for reading to find out: the last thing that a
      // host left on this stream may be the next one.
      blocked_ = true;
      return {};
    }
    sent_ += *count;
  }
}

Process* Loop::find(std::uint32_t number) {
  const auto found = processes_.find(number);
  return found == processes_.end() ? nullptr : &found->second;
}

frame::Processes Loop::known_processes() const {
  frame::Processes all{.highest = highest_};
  all.known.reserve(processes_.size());
  for (const auto& [number, process] : processes_) all.known.push_back(process.known());
  return all;
}

void Loop::reply(const frame::FromGuest& frame) {
  const std::vector<std::byte> bytes = encode(frame);
  replies_.insert(replies_.end(), bytes.begin(), bytes.end());
}

Error Loop::fall(std::string step, int error_number) {
  end_ = GuestEnd::could_not_begin;
  reply(frame::Failed{.process = 0, .step = std::move(step), .error_number = error_number});
  return Error{Errc::unavailable, "the guest cannot begin"};
}

GuestEnd run(Control control, const GuestOptions& options) {
  if (!os::set_dumpable(false)) return GuestEnd::could_not_begin;
  if (!options.first_program && !ignore_nothing()) return GuestEnd::could_not_begin;
  auto children = take_signals();
  auto epoll = os::Epoll::create();
  if (!children || !epoll) return GuestEnd::could_not_begin;
  Loop loop{std::move(control), *std::move(children), *std::move(epoll), options};
  return loop.turn();
}

}  // namespace cordon::guest
