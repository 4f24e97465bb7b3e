// SPDX-License-Identifier: Apache-2.0
#include "guest/starter.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <climits>

#include "base/bytes.h"
#include "guest/error_number.h"
#include "guest/ready_memory.h"
#include "guest/spawner.h"
#include "os/file.h"
#include "os/memfd.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

using StartKind = StartEvent::Kind;

constexpr std::size_t kMostWaiting = 1024;
// As many writes as may be under way, each as long as it may be, wait for a spawner that is on its
// way down.
constexpr std::size_t kMostWaitingBytes =
    (frame::kMostFileActs + 4) * std::size_t{frame::kMostFileBytes};
constexpr std::size_t kMostStreams = 3;
// A spawner that dies this often within this time is not made again before the time is over.
constexpr int kMostDeaths = 8;
constexpr std::chrono::seconds kDeathsApart{10};
// So many programs of one sandbox are not the last.
constexpr int kStartsOften = 2;

// As a message to a spawner.
std::vector<std::byte> body_of(const frame::Fences& fences) {
  auto framed = encode(frame::ToGuest{frame::Setup{.fences = fences, .disk = {}, .standby = {}}});
  framed.erase(framed.begin(), framed.begin() + sizeof(std::uint32_t));
  return framed;
}

// At most by their limits: whoever is behind `one` need but put on those of `other`. Not whether
// there is one of processes at all: who has none does not wait for others.
bool differ_by_limits(const frame::Fences& one, const frame::Fences& other) {
  frame::Fences alike = other;
  alike.limits = one.limits;
  alike.root_too = one.root_too;  // of the next spawners
  return alike == one && (one.limits.processes == 0) == (other.limits.processes == 0);
}

}  // namespace

Status Starter::fork(const frame::Fences* fences) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  TRY_DO(os::set_nonblocking(pair.one, true));
  TRY_DO(epoll_.add(pair.one, EPOLLIN, config_.tag));
  const bool raised = oom_score_ && oom_score_->raise();
  const pid_t child = ::fork();
  const int error_number = errno;
  if (child == 0) {
    if (fences == nullptr && config_.ready_memory) ready_memory();
    be_spawner(std::move(pair.two), fences, config_.find_filter, raised, config_.witness);
  }
  if (oom_score_) TRY_DO(oom_score_->lower());
  if (child < 0) return Error::from_errno("fork", error_number);
  pid_ = child;
  link_ = std::move(pair.one);
  return {};
}

Status Starter::make(const frame::Fences* fences) {
  if (fences == nullptr || !take_next(*fences)) TRY_DO(fork(fences));
  is_root_ = root_fences_ && fences == &*root_fences_;
  ready_ = false;
  fall_.reset();
  if (fences != nullptr) deadline_ = Clock::now() + config_.patience;
  return {};
}

Status Starter::make_next() {
  if (waiting_.empty() || !waiting_.front().as_root) return make(fences_);
  if (!root_fences_) {
    root_fences_ = *fences_;
    root_fences_->uid = root_fences_->gid = 0;
  }
  return make(&*root_fences_);
}

bool Starter::is_another() const noexcept { return waiting_.front().as_root != is_root_; }

Status Starter::make_ahead() { return make(nullptr); }

Status Starter::send_usual(const frame::Fences& fences) {
  TRY_DO(send(Ask::usual, body_of(fences), {}));
  pollfd news{.fd = link_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&news, 1, static_cast<int>(config_.patience.count())) <= 0) {
    return Error{Errc::timeout, "a spawner that does not answer"};
  }
  SpawnerReport report;
  TRY(os::Received got,
      os::receive(link_, std::as_writable_bytes(std::span{&report, 1}), kMostStreams));
  ours_ = std::move(got.fds);
  const bool is_behind = got.bytes == sizeof report && report.kind == SpawnerReport::Kind::behind;
  return is_behind ? Status{} : Error{Errc::unavailable, report.step_text()};
}

Status Starter::exchange() {
  Waiting other{.pid = pid_, .link = std::move(link_)};
  if (other.link) static_cast<void>(epoll_.remove(other.link));
  std::swap(other, next_);
  pid_ = other.pid;
  link_ = std::move(other.link);
  usual_ = nullptr;
  ours_.clear();
  return link_ ? epoll_.add(link_, EPOLLIN, config_.tag) : Status{};
}

Status Starter::make_usual(const frame::Fences& fences) {
  TRY_DO(make_ahead());
  TRY_DO(exchange());
  TRY_DO(make_ahead());
  if (send_usual(fences)) {
    usual_ = &fences;
    return {};
  }
  kill_spawner();
  return exchange();
}

bool Starter::take_next(const frame::Fences& fences) {
  if (next_.pid == 0 || !next_.is_wanted) return false;
  if (exchange() && send(Ask::fences, body_of(fences), {}) && send(Ask::go, {}, {})) return true;
  kill_spawner();
  return false;
}

void Starter::prepare(const frame::Fences& fences, std::span<const std::byte> body) {
  fences_ = &fences;
  if (usual_ != nullptr && !differ_by_limits(*usual_, fences)) {
    if (!exchange()) kill_spawner();
    next_.is_wanted = false;
  }
  usual_ = nullptr;
  if (pid_ == 0 || send(Ask::fences, body, {})) return;
  kill_spawner();
}

// It is reaped, and nobody asks what became of it.
void Starter::kill_spawner() {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
  drop_link();
}

Status Starter::begin() {
  // Before any workload runs.
  if (fences_->uid == ::getuid()) {
    TRY(OomScore own, OomScore::open());
    oom_score_.emplace(std::move(own));
  }
  if (pid_ != 0 && send(Ask::go, {}, {})) {
    deadline_ = Clock::now() + config_.patience;
    return {};
  }
  kill_spawner();
  return make(fences_);
}

bool Starter::enqueue(Item item) {
  std::size_t bytes = item.body.size();
  for (const Item& other : waiting_) bytes += other.body.size();
  if (waiting_.size() >= kMostWaiting || bytes > kMostWaitingBytes) return false;
  waiting_.push_back(std::move(item));
  return true;
}

bool Starter::ask_start(const Wanted& wanted, std::vector<std::byte> body) {
  return enqueue({.ask = Ask::start,
                  .process = wanted.process,
                  .as_root = wanted.as_root,
                  .body = std::move(body)});
}

bool Starter::ask_aside(std::vector<std::byte> body, os::Fd answer) {
  return enqueue({.ask = Ask::aside, .body = std::move(body), .answer = std::move(answer)});
}

// What is long goes in a file, because an argument list may be larger than any message. The socket
// does not block: a spawner which does not read cannot hold us up.
Status Starter::send(Ask ask, std::span<const std::byte> body, const os::Fd& answer) {
  std::vector<std::byte> message;
  message.reserve(1 + std::min(body.size(), kMostInMessage));
  message.push_back(static_cast<std::byte>(ask));
  os::Fd file;
  if (body.size() <= kMostInMessage) {
    message.insert(message.end(), body.begin(), body.end());
  } else {
    TRY(file, os::memfd_create("request"));
    TRY_DO(os::write_all(file, as_text(body)));
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return Error::from_errno("lseek");
  }
  std::vector<const os::Fd*> fds;
  for (const os::Fd* fd : {&std::as_const(file), &answer}) {
    if (*fd) fds.push_back(fd);
  }
  TRY_DO(os::send(link_, message, fds));
  return {};
}

void Starter::drop_link() {
  if (link_) static_cast<void>(epoll_.remove(link_));
  link_ = os::Fd{};
  pid_ = 0;
  ready_ = begun_ = false;
  ours_.clear();
  deadline_.reset();
}

void Starter::retire() {
  if (link_) static_cast<void>(epoll_.remove(link_));
  link_ = os::Fd{};  // its end is the spawner's
  ready_ = false;
  ours_.clear();
  retired_ = true;
  deadline_ = Clock::now() + config_.patience;  // one that a workload has stopped is killed then
}

void Starter::await_requests() {
  if (std::exchange(is_awaited_, true)) return;
  await_idle();
}

std::vector<StartEvent> Starter::drop_starts() {
  std::vector<StartEvent> events = hear();
  if (begun_) events.push_back(become());
  const auto failed = [](const Item& item) {
    return StartEvent{.kind = StartKind::failed,
                      .process = item.process,
                      .step = kFrozen,
                      .error_number = EAGAIN};
  };
  if (started_) {
    ::kill(pid_, SIGKILL);
    drop_link();
    events.push_back(finish_start(failed(waiting_.front())));
  }
  for (const Item& item : waiting_) {
    if (item.ask == Ask::start) events.push_back(failed(item));
  }
  std::erase_if(waiting_, [](const Item& item) { return item.ask == Ask::start; });
  return events;
}

void Starter::await_idle() {
  if (is_awaited_ && is_idle()) deadline_ = Clock::now() + config_.idle;
}

StartEvent Starter::finish_start(StartEvent event) {
  event.process = waiting_.front().process;
  waiting_.erase(waiting_.begin());
  if (waiting_.empty()) waiting_.shrink_to_fit();
  started_ = begun_ = false;
  deadline_.reset();
  await_idle();
  return event;
}

// Who has started twice will start again: from then on the next spawner goes down while the program
// runs. It may fail now, and be made when it is asked for.
StartEvent Starter::become() {
  drop_link();
  StartEvent event = finish_start({.kind = StartKind::running});
  starts_ = std::min(starts_ + 1, kStartsOften);
  if (starts_ == kStartsOften && may_make()) static_cast<void>(make(fences_));
  return event;
}

void Starter::lose(std::vector<StartEvent>& events) {
  drop_link();
  ++deaths_;
  last_death_ = Clock::now();
  if (fall_ && !waiting_.empty() && waiting_.front().ask == Ask::start) {
    events.push_back(finish_start(*std::move(fall_)));
  }
  fall_.reset();
  started_ = false;  // a start that nobody began is asked for again
}

bool Starter::may_make() {
  if (Clock::now() - last_death_ > kDeathsApart) deaths_ = 0;
  return deaths_ < kMostDeaths;
}

void Starter::ensure_spawner(std::vector<StartEvent>& events) {
  const Status made = may_make() ? make_next() : Error::from_errno("spawner", EAGAIN);
  if (made) return;
  if (waiting_.front().ask == Ask::aside) {
    waiting_.erase(waiting_.begin());  // the answer's end closes: the host hears EIO
    return;
  }
  events.push_back(finish_start(
      {.kind = StartKind::failed, .step = "spawner", .error_number = number_of(made.error())}));
}

// Whoever holds the spawner up, or what it started, must not hold us up. One that has begun is
// served as the program that it is, or is about to be: a sibling that a workload has stopped may
// withhold the end of its socket.
void Starter::give_up(std::vector<StartEvent>& events) {
  if (begun_) {
    events.push_back(become());
    return;
  }
  if (pid_ > 0) ::kill(pid_, SIGKILL);
  const bool had_start = started_;
  retired_ = false;
  drop_link();
  ++deaths_;
  last_death_ = Clock::now();
  if (had_start) {
    events.push_back(
        finish_start({.kind = StartKind::failed, .step = "spawner", .error_number = ETIMEDOUT}));
  }
}

std::vector<StartEvent> Starter::heed_deadline() {
  if (!deadline_ || Clock::now() < *deadline_) return {};
  std::vector<StartEvent> events = hear();  // it may have answered in time
  if (!deadline_ || Clock::now() < *deadline_) return events;
  if (is_idle()) {
    retire();
  } else {
    give_up(events);
  }
  return events;
}

std::vector<StartEvent> Starter::advance() {
  std::vector<StartEvent> events = heed_deadline();
  while (!waiting_.empty() && !started_) {
    if (pid_ == 0) {
      ensure_spawner(events);
      continue;
    }
    // One that is still on its way down finds the request when it has arrived. One that retires has
    // no link any more: the next is made when it has ended.
    if (!link_) break;
    if (is_another()) {
      if (ready_) retire();  // else when it is
      break;
    }
    const Item& item = waiting_.front();
    const Status sent = send(item.ask, item.body, item.answer);
    if (item.ask == Ask::aside) {
      waiting_.erase(waiting_.begin());
      await_idle();
    } else if (sent) {
      started_ = true;
      deadline_ = Clock::now() + config_.patience;
    } else if (number_of(sent.error()) == EPIPE || number_of(sent.error()) == ECONNRESET) {
      break;  // it has died: bury will come
    } else {
      events.push_back(finish_start(
          {.kind = StartKind::failed, .step = "spawner", .error_number = number_of(sent.error())}));
    }
  }
  return events;
}

void Starter::take(const SpawnerReport& report, std::vector<os::Fd> fds,
                   std::vector<StartEvent>& events) {
  switch (report.kind) {
    case SpawnerReport::Kind::behind:
      return;  // heard where it was waited for
    case SpawnerReport::Kind::ready:
      ready_ = true;
      if (!next_.is_wanted) next_ = {};
      if (!fds.empty()) ours_ = std::move(fds);
      if (!started_) deadline_.reset();
      await_idle();
      events.push_back({.kind = StartKind::ready});
      return;
    case SpawnerReport::Kind::fallen:
      fall_ = StartEvent{.kind = StartKind::failed,
                         .step = report.step_text(),
                         .error_number = report.error_number};
      events.push_back(
          {.kind = StartKind::fallen, .step = fall_->step, .error_number = fall_->error_number});
      return;
    case SpawnerReport::Kind::begun:
      if (!started_ || begun_) return;
      begun_ = true;
      if (!fds.empty()) ours_ = std::move(fds);
      events.push_back({.kind = StartKind::streams,
                        .process = waiting_.front().process,
                        .pid = pid_,
                        .fds = std::move(ours_)});
      return;
    case SpawnerReport::Kind::failed:
      if (!started_) return;
      events.push_back(finish_start({.kind = StartKind::failed,
                                     .step = report.step_text(),
                                     .error_number = report.error_number}));
      retire();
      return;
  }
}

std::vector<StartEvent> Starter::hear() {
  std::vector<StartEvent> events;
  bool was_reset = false;
  while (link_) {
    SpawnerReport report;
    auto received = os::receive(link_, std::as_writable_bytes(std::span{&report, 1}), kMostStreams);
    if (!received && number_of(received.error()) == EAGAIN) break;
    // It died with our request unread. Linux tells it once, and what it had said before comes
    // after; gVisor tells nothing else.
    const bool is_reset = !received && number_of(received.error()) == ECONNRESET;
    if (is_reset && !std::exchange(was_reset, true)) continue;
    if (is_reset || (received && received->bytes == 0)) {
      if (begun_) {
        events.push_back(become());
        break;
      }
      // Closed, and not yet reaped: nothing more will come, and the set must not tell it for ever.
      static_cast<void>(epoll_.remove(link_));
      break;
    }
    if (!received || received->bytes != sizeof report) {
      give_up(events);  // descriptors that we had no room for, or nonsense
      break;
    }
    take(report, std::move(received->fds), events);
    // It was asked for nothing yet: there is nothing more to hear.
    if (report.kind == SpawnerReport::Kind::ready && !started_) break;
  }
  return events;
}

std::vector<StartEvent> Starter::bury() {
  const pid_t dead = pid_;
  std::vector<StartEvent> events = hear();
  if (pid_ != dead) return events;  // it had become a program
  if (std::exchange(retired_, false)) {
    drop_link();
  } else if (begun_) {
    events.push_back(become());  // a sibling that it left has kept its end open
  } else {
    lose(events);
  }
  return events;
}

}  // namespace cordon::guest
