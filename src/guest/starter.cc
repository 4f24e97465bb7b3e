// SPDX-License-Identifier: Apache-2.0
#include "guest/starter.h"

#include <array>
#include <cerrno>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <climits>

#include "guest/spawner.h"
#include "os/file.h"
#include "os/memfd.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

using Kind = StartEvent::Kind;

constexpr std::size_t kMostWaiting = 1024;
constexpr std::size_t kMostWaitingBytes = std::size_t{8} << 20U;
constexpr std::size_t kMostStreams = 3;
// A spawner that dies this often within this time is not made again before the time is over.
constexpr int kMostDeaths = 8;
constexpr std::chrono::seconds kDeathsApart{10};

int number_of(const Error& error) {
  const int number = error.cause().value();
  return number != 0 ? number : EIO;
}

}  // namespace

Status Starter::make() {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  TRY_DO(os::set_nonblocking(pair.one, true));
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("fork");
  if (child == 0) be_spawner(std::move(pair.two), config_.fences, config_.find_filter);
  pid_ = child;
  link_ = std::move(pair.one);
  ready_ = false;
  deadline_ = Clock::now() + config_.patience;
  return epoll_.add(link_, EPOLLIN, config_.tag);
}

bool Starter::enqueue(Item item) {
  std::size_t bytes = item.body.size();
  for (const Item& other : waiting_) bytes += other.body.size();
  if (waiting_.size() >= kMostWaiting || bytes > kMostWaitingBytes) return false;
  waiting_.push_back(std::move(item));
  return true;
}

bool Starter::ask_start(std::uint32_t process, std::vector<std::byte> body) {
  return enqueue({.ask = Ask::start, .process = process, .body = std::move(body)});
}

bool Starter::ask_file(std::vector<std::byte> body, os::Fd answer) {
  return enqueue({.ask = Ask::file, .body = std::move(body), .answer = std::move(answer)});
}

// The body goes in a file, because an argument list may be larger than any message; the message
// itself is one byte, so that a spawner which does not read cannot hold us up.
Status Starter::send(const Item& item) {
  TRY(const os::Fd body, os::memfd_create("request"));
  TRY_DO(os::write_all(body, {reinterpret_cast<const char*>(item.body.data()), item.body.size()}));
  if (::lseek(body.get(), 0, SEEK_SET) != 0) return Error::from_errno("lseek");
  const std::array ask{static_cast<std::byte>(item.ask)};
  const std::array<const os::Fd*, 2> fds{&body, &item.answer};
  TRY_DO(os::send(link_, ask, std::span{fds}.first(item.answer ? 2 : 1)));
  return {};
}

void Starter::drop_link() {
  if (link_) static_cast<void>(epoll_.remove(link_));
  link_ = os::Fd{};
  pid_ = 0;
  ready_ = false;
  deadline_.reset();
}

void Starter::retire() {
  if (link_) static_cast<void>(epoll_.remove(link_));
  link_ = os::Fd{};  // its end is the spawner's
  ready_ = false;
  retired_ = true;
  deadline_ = Clock::now() + config_.patience;  // one that a workload has stopped is killed then
}

void Starter::await_idle() {
  if (is_idle()) deadline_ = Clock::now() + config_.idle;
}

StartEvent Starter::finish_start(StartEvent event) {
  event.process = waiting_.front().process;
  waiting_.erase(waiting_.begin());
  if (waiting_.empty()) waiting_.shrink_to_fit();
  started_ = false;
  born_ = 0;
  deadline_.reset();
  await_idle();
  return event;
}

void Starter::ensure_spawner(std::vector<StartEvent>& events) {
  if (Clock::now() - last_death_ > kDeathsApart) deaths_ = 0;
  const Status made = deaths_ < kMostDeaths ? make() : Error::from_errno("spawner", EAGAIN);
  if (made) return;
  if (waiting_.front().ask == Ask::file) {
    waiting_.erase(waiting_.begin());  // its answer's end closes: the host hears EIO
    return;
  }
  events.push_back(finish_start(
      {.kind = Kind::failed, .step = "spawner", .error_number = number_of(made.error())}));
}

// Whoever holds the spawner up, or what it started, must not hold us up.
void Starter::give_up(std::vector<StartEvent>& events) {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  if (born_ > 0) ::kill(born_, SIGKILL);
  const bool had_start = started_;
  retired_ = false;
  drop_link();
  ++deaths_;
  last_death_ = Clock::now();
  if (had_start) {
    events.push_back(
        finish_start({.kind = Kind::failed, .step = "spawner", .error_number = ETIMEDOUT}));
  }
}

std::vector<StartEvent> Starter::advance() {
  std::vector<StartEvent> events;
  if (deadline_ && Clock::now() >= *deadline_) {
    if (is_idle()) {
      retire();
    } else {
      give_up(events);
    }
  }
  while (!waiting_.empty() && !started_) {
    if (pid_ == 0) {
      ensure_spawner(events);
      continue;
    }
    // One that is still on its way down finds the request when it has arrived. One that retires has
    // no link any more: the next is made when it has ended.
    if (!link_) break;
    const Item& item = waiting_.front();
    const Status sent = send(item);
    if (item.ask == Ask::file) {
      waiting_.erase(waiting_.begin());
      await_idle();
    } else if (sent) {
      started_ = true;
      deadline_ = Clock::now() + config_.patience;
    } else if (number_of(sent.error()) == EPIPE || number_of(sent.error()) == ECONNRESET) {
      break;  // it has died: bury will come
    } else {
      events.push_back(finish_start(
          {.kind = Kind::failed, .step = "spawner", .error_number = number_of(sent.error())}));
    }
  }
  return events;
}

void Starter::take(const SpawnerReport& report, std::vector<os::Fd> fds,
                   std::vector<StartEvent>& events) {
  switch (report.kind) {
    case SpawnerReport::Kind::ready:
      ready_ = true;
      if (!started_) deadline_.reset();
      await_idle();
      events.push_back({.kind = Kind::ready});
      return;
    case SpawnerReport::Kind::fallen:
      fall_ = StartEvent{
          .kind = Kind::failed, .step = report.step_text(), .error_number = report.error_number};
      events.push_back(
          {.kind = Kind::fallen, .step = fall_->step, .error_number = fall_->error_number});
      return;
    case SpawnerReport::Kind::streams:
    case SpawnerReport::Kind::born:
    case SpawnerReport::Kind::done:
      break;
  }
  if (!started_) return;
  const std::uint32_t process = waiting_.front().process;
  if (report.kind == SpawnerReport::Kind::streams) {
    events.push_back({.kind = Kind::streams, .process = process, .fds = std::move(fds)});
  } else if (report.kind == SpawnerReport::Kind::born && report.pid > 1 &&
             report.pid <= std::uint32_t{INT_MAX}) {
    born_ = static_cast<pid_t>(report.pid);
    events.push_back({.kind = Kind::born, .process = process, .pid = born_});
  } else if (report.kind == SpawnerReport::Kind::done && report.error_number != 0) {
    events.push_back(finish_start(
        {.kind = Kind::failed, .step = report.step_text(), .error_number = report.error_number}));
  } else if (report.kind == SpawnerReport::Kind::done && born_ != 0) {
    events.push_back(finish_start({.kind = Kind::running}));
  }
}

std::vector<StartEvent> Starter::hear() {
  std::vector<StartEvent> events;
  while (link_) {
    SpawnerReport report;
    auto received = os::receive(link_, std::as_writable_bytes(std::span{&report, 1}), kMostStreams);
    if (!received && number_of(received.error()) == EAGAIN) break;
    // It died with our request unread. Told once; what it had said before comes after.
    if (!received && number_of(received.error()) == ECONNRESET) continue;
    if (received && received->bytes == 0) {
      // Closed, and not yet reaped: nothing more will come, and the set must not tell it for ever.
      static_cast<void>(epoll_.remove(link_));
      break;
    }
    if (!received || received->bytes != sizeof report) {
      give_up(events);  // descriptors that we had no room for, or nonsense
      break;
    }
    take(report, std::move(received->fds), events);
  }
  return events;
}

std::vector<StartEvent> Starter::bury() {
  // From here on a child that the spawner left behind cannot tell us of its birth, and ends.
  if (link_) ::shutdown(link_.get(), SHUT_RD);
  std::vector<StartEvent> events = hear();
  if (pid_ == 0) return events;
  drop_link();
  if (std::exchange(retired_, false)) return events;
  ++deaths_;
  last_death_ = Clock::now();
  if (started_ && born_ != 0) {
    events.push_back(finish_start({.kind = Kind::running}));
  } else if (fall_ && !waiting_.empty() && waiting_.front().ask == Ask::start) {
    events.push_back(finish_start(*std::move(fall_)));
  }
  fall_.reset();
  started_ = false;  // a start that nobody began is asked for again
  return events;
}

}  // namespace cordon::guest
