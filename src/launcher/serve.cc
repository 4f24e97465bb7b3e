// SPDX-License-Identifier: Apache-2.0
#include "launcher/serve.h"

#include <algorithm>
#include <memory>
#include <span>
#include <sys/epoll.h>

#include "base/log.h"
#include "launcher/descent.h"
#include "launcher/group_reclaim.h"
#include "launcher/stop_signal.h"
#include "os/rlimit.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr std::uint64_t kNode = 0;
constexpr std::uint64_t kDoor = 1;
constexpr std::uint64_t kStop = 2;
constexpr std::uint64_t kBerth = 3;
constexpr std::uint64_t kNodeProgram = 4;
constexpr std::uint64_t kFirstTag = 5;

// Sandboxes that live, have ended or were deposited. A node that never asks for ends gets no more.
constexpr std::size_t kMostHeld = 10'000;
constexpr std::size_t kFdsOfSandbox = 3;                 // control, pid 1, the lock of its ids
constexpr std::size_t kFdsOfImage = 1;                   // the top of its disk
constexpr std::size_t kMostFds = frame::kRecorderParts;  // beside a message of a node
// For the pools, and for opening the groups of the one that ends: with none left it could not be
// removed whole.
constexpr std::size_t kFdsOfOwn = 128;
// Of one set of groups in the pool: two for each hierarchy.
constexpr std::size_t kFdsOfGroups = 16;
// Of one berth: control, pid 1, the lock and the namespace of its ids, its directories, its groups.
constexpr std::size_t kFdsOfBerth = kFdsOfSandbox + 1 + kBerthDirectories + kFdsOfGroups;
// Of one that runs ahead: also its disk, its witness and the sockets of its network.
constexpr std::size_t kFdsOfSpare = kFdsOfSandbox + kFdsOfImage + 1 + 2;

// While there is plenty, what is made ahead waits until those that just began have had the
// processors.
constexpr std::chrono::milliseconds kAtOnce{0};
constexpr std::chrono::milliseconds kQuiet{2};
// An engine wants a processor for as long as it starts.
constexpr std::chrono::milliseconds kLull{250};

// A node answers what has arrived before it ends.
constexpr std::chrono::seconds kNodeEnds{40};

constexpr std::chrono::milliseconds kBetweenSweeps{500};

Result<std::size_t> raise_fd_limit() {
  TRY(os::RlimitValue limit, os::get_rlimit(os::Rlimit::open_files));
  limit.soft = limit.hard;
  TRY_DO(os::set_rlimit(os::Rlimit::open_files, limit));
  return limit.hard.value_or(kMostHeld * kFdsOfSandbox * 2);
}

}  // namespace

Server::Server(Workshop workshop, WhenAlone when_alone, os::Epoll epoll)
    : workshop_{std::move(workshop)},
      when_alone_{when_alone},
      epoll_{std::move(epoll)},
      next_tag_{kFirstTag},
      most_held_{kMostHeld},
      // Not set to zero: no page is touched that no message fills.
      message_{std::make_unique_for_overwrite<std::byte[]>(frame::kLongestLauncherMessage)} {}

Result<Server> Server::over(Workshop workshop, os::Fd node) {
  TRY(os::Epoll epoll, os::Epoll::create());
  TRY_DO(epoll.add(node, EPOLLIN, kNode));
  Server server{std::move(workshop), WhenAlone::end, std::move(epoll)};
  server.node_ = std::move(node);
  return server;
}

Result<Server> Server::at(Workshop workshop, Door door, os::Fd stop, std::string facts,
                          std::optional<NodeKeeper> keeper) {
  TRY(os::Epoll epoll, os::Epoll::create());
  TRY_DO(epoll.add(door.listener(), EPOLLIN, kDoor));
  TRY_DO(epoll.add(stop, EPOLLIN, kStop));
  Server server{std::move(workshop), WhenAlone::wait, std::move(epoll)};
  TRY(const std::size_t fds, raise_fd_limit());
  const std::size_t kept = kFdsOfOwn + kFdsOfGroups * server.workshop_.groups.ahead() +
                           kFdsOfBerth * server.workshop_.berths.ahead() +
                           kFdsOfSpare * server.workshop_.spares.ahead();
  if (fds <= kept) return Error{Errc::exhausted, "too few open files: " + std::to_string(fds)};
  const std::size_t each = kFdsOfSandbox + (server.workshop_.floor.disk_images ? kFdsOfImage : 0);
  server.most_held_ = std::min(kMostHeld, (fds - kept) / each);
  server.door_.emplace(std::move(door));
  server.stop_ = std::move(stop);
  server.facts_ = std::move(facts);
  if (keeper) server.keeper_.emplace(*std::move(keeper));
  return server;
}

Status Server::run() {
  while (node_ || when_alone_ == WhenAlone::wait) {
    TRY(const auto events, epoll_.wait(patience()));
    if (events.empty()) use_idle_time();
    bool knocked = false;
    bool is_over = stop_by_ && NodeKeeper::Clock::now() >= *stop_by_;
    for (const os::EpollEvent& event : events) {
      if (event.tag == kStop) {
        is_over = !begin_to_stop();
      } else if (event.tag == kNodeProgram) {
        bury_node();
        is_over = stop_by_.has_value();
      } else if (event.tag == kNode) {
        TRY_DO(serve_node());
      } else if (event.tag == kDoor) {
        knocked = true;
      } else if (event.tag == kBerth) {
        hear_of_berth();
      } else {
        keep_end(event.tag);
      }
    }
    // Else nobody would ever wait less than for all of it, once nobody is idle.
    if (!events.empty() && workshop_.berths.is_short()) begin_berth();
    // Last: a node that has gone makes room for the one that knocks.
    if (knocked) admit();
    if (is_over) {
      end_all();
      return {};
    }
    keep_node();
  }
  if (unsaid_) return *std::move(unsaid_);
  return {};
}

std::optional<std::chrono::milliseconds> Server::patience() const {
  if (workshop_.wants_more()) return workshop_.berths.has_plenty() ? kQuiet : kAtOnce;
  if (wants_spare()) return kLull;
  if (sweeps_ > 0 || stop_by_) return kBetweenSweeps;
  auto due = workshop_.spares.due();
  if (keeper_ && !node_) {
    const auto start = keeper_->due();
    if (start && (!due || *start < *due)) due = start;
  }
  if (!due) return std::nullopt;
  using std::chrono::milliseconds;
  const auto left = *due - NodeKeeper::Clock::now();
  return std::max(std::chrono::ceil<milliseconds>(left), milliseconds{0});
}

// Nobody comes for one while no node is there.
bool Server::wants_spare() const { return node_ && !stop_by_ && workshop_.spares.wants_more(); }

// One that is connected needs no other, whoever started it.
void Server::keep_node() {
  if (!keeper_ || node_ || stop_by_) return;
  const auto due = keeper_->due();
  if (!due || *due > NodeKeeper::Clock::now()) return;
  Status started = keeper_->start();
  if (started) started = epoll_.add(keeper_->pidfd(), EPOLLIN, kNodeProgram);
  if (!started) {
    log(LogLevel::error, "launcher", "cordond could not be started",
        {{"failure", std::string_view{started.error().text()}}});
  }
}

void Server::bury_node() {
  if (!keeper_ || !keeper_->runs()) return;
  static_cast<void>(epoll_.remove(keeper_->pidfd()));
  keeper_->bury();
}

// A node of ours ends first, and needs us until it has. Asked twice, nobody waits for it.
bool Server::begin_to_stop() {
  if (stop_by_ || !keeper_ || !keeper_->runs()) return false;
  stop_by_ = NodeKeeper::Clock::now() + kNodeEnds;
  forget_stop(stop_);
  keeper_->ask_to_end();
  return true;
}

void Server::use_idle_time() {
  if (workshop_.wants_more()) {
    const bool begins = workshop_.berths.wants_more() && !workshop_.berths.wants_furniture();
    begins ? begin_berth() : workshop_.refill();
    return;
  }
  if (wants_spare()) return workshop_.spares.begin_one(workshop_);
  workshop_.spares.drop_old(Spares::Clock::now());
  if (sweeps_ == 0) return;
  --sweeps_;
  reclaim_groups(workshop_.trees);
}

void Server::begin_berth() {
  workshop_.berths.begin(workshop_);
  await_berth();
}

void Server::await_berth() {
  const os::Fd& news = workshop_.berths.news();
  // Without it none comes any more: sandboxes are made when they are asked for.
  if (news) static_cast<void>(epoll_.add(news, EPOLLIN, kBerth));
}

void Server::hear_of_berth() {
  static_cast<void>(epoll_.remove(workshop_.berths.news()));
  workshop_.berths.hear();
  await_berth();
}

void Server::admit() {
  auto peer = door_->accept();  // NOLINT(bugprone-unchecked-optional-access): it was knocked at
  if (!peer) {
    if (peer.error().code() == Errc::denied) {
      log(LogLevel::warning, "launcher", "turned away",
          {{"who", std::string_view{peer.error().text()}}});
    }
    return;
  }
  if (node_) return turn_away(*peer, "busy", "another node is connected");
  if (!epoll_.add(*peer, EPOLLIN, kNode)) return;
  node_ = *std::move(peer);
  if (keeper_) keeper_->greet(NodeKeeper::kGrace);
  send(frame::Welcome{.facts = facts_});
}

void Server::drop_node() {
  static_cast<void>(epoll_.remove(node_));
  node_ = os::Fd{};
  if (keeper_) keeper_->part();
}

Status Server::serve_node() {
  if (!node_) return {};
  const std::span buffer{message_.get(), frame::kLongestLauncherMessage};
  auto got = os::receive(node_, buffer, kMostFds);
  if (!got || got->bytes == 0) {
    drop_node();
    return {};
  }
  auto message = frame::decode_to_launcher(buffer.first(got->bytes));
  if (!message) {
    refuse({}, "malformed", message.error().text());
    return {};
  }
  std::visit(
      [&](const auto& request) {
        if constexpr (requires { answer(request, std::move(got->fds)); }) {
          answer(request, std::move(got->fds));
        } else {
          answer(request);
        }
      },
      *message);
  return {};
}

void Server::send(const frame::FromLauncher& message, Fds fds) {
  if (!node_) return;
  const auto bytes = frame::encode(message);
  const auto sent = os::send(node_, bytes, fds);
  if (sent) return;
  // It would wait for ever for what could not be said. In local use all ends with it; of a service
  // it, or the next one, finds by List what it would have heard.
  drop_node();
  const std::error_code cause = sent.error().cause();
  if (cause != std::errc::broken_pipe) unsaid_ = Error{sent.error()}.with("answer the caller");
}

void Server::refuse(const std::string& id, std::string code, std::string text) {
  send(frame::Refused{id, std::move(code), std::move(text)});
}

}  // namespace cordon::launcher
