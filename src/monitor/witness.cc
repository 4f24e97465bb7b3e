// SPDX-License-Identifier: Apache-2.0
#include "monitor/witness.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <pthread.h>

#include "os/socket.h"

namespace cordon::monitor {
namespace {

constexpr std::size_t kMostListeners = 256;
constexpr std::size_t kMostWaiting = std::size_t{1} << 15U;
// A name may change, and an id be another's, within this.
constexpr std::chrono::milliseconds kKnown{100};
constexpr std::size_t kMostKnown = 1024;

}  // namespace

Result<std::unique_ptr<Witness>> Witness::start(os::Fd socket, Config config) {
  TRY(os::Pipe stop, os::pipe2());
  std::unique_ptr<Witness> own{new Witness{std::move(socket), std::move(config), std::move(stop)}};
  // Signals are for the thread that has the loop.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  own->thread_ = std::thread{[&witness = *own] { witness.run(); }};
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return own;
}

Witness::~Witness() {
  stop_.write = os::Fd{};
  if (thread_.joinable()) thread_.join();
}

void Witness::join() {
  if (thread_.joinable()) thread_.join();
}

void Witness::run() {
  while (socket_ || !listeners_.empty()) {
    std::vector<pollfd> news{{.fd = stop_.read.get(), .events = POLLIN, .revents = 0},
                             {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
    for (const os::Fd& listener : listeners_) {
      news.push_back({.fd = listener.get(), .events = POLLIN, .revents = 0});
    }
    // The set stays as it is while calls come: nothing is built anew for each.
    for (bool changed = false; !changed;) {
      if (::poll(news.data(), news.size(), -1) < 0 && errno != EINTR) return;
      if (news[0].revents != 0) return;
      changed = !answer_all(std::span{news}.subspan(2));
      if (news[1].revents != 0) {
        welcome();
        changed = true;
      }
    }
  }
}

bool Witness::answer_all(std::span<const pollfd> news) {
  for (std::size_t i = 0; i < news.size(); ++i) {
    const short seen = news[i].revents;
    if (seen == 0 || ((seen & POLLIN) != 0 && answer(listeners_[i]))) continue;
    listeners_[i] = os::Fd{};
  }
  return std::erase_if(listeners_, [](const os::Fd& listener) { return !listener; }) == 0;
}

void Witness::welcome() {
  std::array<std::byte, 1> word{};
  auto received = os::receive(socket_, word, 1);
  if (!received || received->bytes == 0) {
    socket_ = os::Fd{};
    return;
  }
  if (received->fds.empty() || listeners_.size() >= kMostListeners) return;
  // Where the kernel has no such word (before 6.6) both are woken as it likes.
  static_cast<void>(os::seccomp_set_sync_wake_up(received->fds.front()));
  listeners_.push_back(std::move(received->fds.front()));
}

bool Witness::answer(const os::Fd& listener) {
  const auto call = os::seccomp_receive(listener);
  if (!call) return call.error().code() == Errc::not_found;
  auto told = read(*call);
  // Of a caller that has died meanwhile another may have got the id: what was read may be that
  // one's, and is nobody's to record. One that gets its answer has waited for it.
  if (os::seccomp_respond_continue(listener, call->id) && told) note(*std::move(told));
  return true;
}

std::optional<Witness::Told> Witness::read(const os::SeccompNotification& call) {
  if (!has_room()) return std::nullopt;
  auto intent = read_intent(call);
  if (!intent) return std::nullopt;
  name(*intent, call.pid);
  Told told{.intent = *std::move(intent), .tree = nullptr};
  if (news_.tree) return told;
  if (auto held = os::tree_of(call.pid)) {
    told.tree = std::make_shared<const os::HeldTree>(*std::move(held));
  }
  return told;
}

void Witness::note(Told told) {
  bool is_first = false;
  {
    const std::lock_guard held{lock_};
    if (told.tree) news_.tree = std::move(told.tree);
    if (news_.intents.size() >= kMostWaiting) {
      ++news_.untold.lost;
      return;
    }
    is_first = news_.intents.empty();
    news_.intents.push_back(std::move(told.intent));
  }
  if (is_first && config_.when_news) config_.when_news();
}

bool Witness::has_room() {
  const auto now = std::chrono::steady_clock::now();
  if (now - second_ >= std::chrono::seconds{1}) {
    second_ = now;
    told_ = 0;
  }
  if (told_++ < config_.per_second) return true;
  const std::lock_guard held{lock_};
  ++news_.untold.over;
  return false;
}

void Witness::name(Intent& intent, pid_t pid) {
  const auto now = std::chrono::steady_clock::now();
  const bool executes = intent.of == CallKind::Of::exec;
  if (known_.size() > kMostKnown) known_.clear();
  Known& known = known_[pid];
  if (executes || now - known.since > kKnown) {
    if (auto names = os::names_of(pid)) known = {.names = *std::move(names), .since = now};
  }
  intent.pid = known.names.inside;
  intent.command = known.names.command;
  if (!executes) return;
  if (const auto parent = os::names_of(known.names.parent)) intent.parent = parent->inside;
  known_.erase(pid);  // its name is another from here on
}

Witness::News Witness::take() {
  const std::lock_guard held{lock_};
  return {.intents = std::exchange(news_.intents, {}), .tree = news_.tree, .untold = news_.untold};
}

}  // namespace cordon::monitor
