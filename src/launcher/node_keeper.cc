// SPDX-License-Identifier: Apache-2.0
#include "launcher/node_keeper.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <signal.h>

#include "base/log.h"
#include "launcher/own_program.h"

namespace cordon::launcher {

namespace {

// Of ours it gets nothing, but where it is to die.
std::vector<std::string> environment() {
  std::vector<std::string> all{"PATH=/usr/bin:/bin"};
  const char* const fault =
      std::getenv("CORDON_FAULT");  // NOLINT(concurrency-mt-unsafe): one thread
  if (fault != nullptr) all.push_back(std::string{"CORDON_FAULT="} + fault);
  return all;
}

}  // namespace

BackOff::Milliseconds BackOff::after(Milliseconds lived, bool served) {
  if (lived >= kHealthy) next_ = kFirst;
  if (served) next_ = std::min(next_, kLongestAfterService);
  const Milliseconds wait = next_;
  next_ = std::min(next_ * 2, kLongest);
  return wait;
}

Status NodeKeeper::start() {
  started_ = Clock::now();
  has_served_ = false;
  auto child = start_own_program(
      {.arguments = {"cordond", "--config", program_.config},
       .id = program_.uid,
       .group = program_.gid,
       .environment = environment(),
       .is_own_master = true},
      [](const Error& why) {
        static_cast<void>(std::fprintf(stderr, "cordon: launcher: %s\n", why.text().c_str()));
      });
  if (!child) {
    due_ = started_ + back_off_.after({}, false);
    return std::move(child).error();
  }
  child_.emplace(*std::move(child));
  return {};
}

void NodeKeeper::bury() {
  if (!child_) return;
  const auto ended = std::move(*child_).wait();
  child_.reset();
  const auto lived = std::chrono::duration_cast<BackOff::Milliseconds>(Clock::now() - started_);
  // An end in order is an upgrade: its clients wait.
  const bool in_order = ended && ended->kind == os::ExitStatus::Kind::exited && ended->value == 0;
  const auto wait = in_order ? BackOff::Milliseconds{0} : back_off_.after(lived, has_served_);
  due_ = Clock::now() + wait;
  log(in_order ? LogLevel::info : LogLevel::error, "launcher", "cordond ended",
      {{"how", ended && ended->kind == os::ExitStatus::Kind::signaled ? "signal" : "exit"},
       {"value", static_cast<std::int64_t>(ended ? ended->value : -1)},
       {"lived_ms", static_cast<std::int64_t>(lived.count())},
       {"next_start_ms", static_cast<std::int64_t>(wait.count())}});
}

void NodeKeeper::ask_to_end() const {
  if (child_) static_cast<void>(child_->signal(SIGTERM));
}

}  // namespace cordon::launcher
