// SPDX-License-Identifier: Apache-2.0
#include "launcher/serve.h"

#include <algorithm>
#include <array>
#include <memory>
#include <signal.h>
#include <span>
#include <sys/epoll.h>
#include <vector>

#include "base/id.h"
#include "base/log.h"
#include "launcher/descent.h"
#include "launcher/group_reclaim.h"
#include "launcher/handover.h"
#include "launcher/stop_signal.h"
#include "os/fault_point.h"
#include "os/pidfd.h"
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
constexpr std::size_t kFdsOfSandbox = 3;  // control, pid 1, the lock of its ids
constexpr std::size_t kFdsOfImage = 1;    // the top of its disk
constexpr std::size_t kMostFds = 4;       // beside a message of a node: those of Deposit
// Who reads one in order takes no longer than a moment.
constexpr std::size_t kMostReaders = 16;
// For the pools, and for opening the groups of the one that ends: with none left it could not be
// removed whole.
constexpr std::size_t kFdsOfOwn = 128;
// Of one set of groups in the pool: two for each hierarchy.
constexpr std::size_t kFdsOfGroups = 16;
// Of one berth: control, pid 1, the lock and the namespace of its ids, its directories, its groups.
constexpr std::size_t kFdsOfBerth = kFdsOfSandbox + 1 + kBerthDirectories + kFdsOfGroups;
// Ids have at most 52 letters: this many fit into one message.
constexpr std::size_t kPage = 2'000;

// While there is plenty, what is made ahead waits until those that just began have had the
// processors.
constexpr std::chrono::milliseconds kAtOnce{0};
constexpr std::chrono::milliseconds kQuiet{2};

// A node answers what has arrived before it ends.
constexpr std::chrono::seconds kNodeEnds{40};

constexpr unsigned kSweeps = 10;
constexpr std::chrono::milliseconds kBetweenSweeps{500};

frame::GroupUse to_frame(const os::CgroupUsage& usage) {
  frame::GroupUse use{.memory_peak = usage.memory_peak,
                      .oom_kills = usage.oom_kills,
                      .pids_peak = usage.pids_peak,
                      .pids_refused = usage.pids_refused};
  if (usage.cpu) use.cpu_microseconds = static_cast<std::uint64_t>(usage.cpu->count());
  return use;
}

frame::Ended ended(const std::string& id, const Result<os::ExitStatus>& status) {
  frame::Ended message{.id = id};
  if (status) {
    message.by_signal = status->kind == os::ExitStatus::Kind::signaled;
    message.value = static_cast<std::uint32_t>(status->value);
  }
  return message;
}

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
                           kFdsOfBerth * server.workshop_.berths.ahead();
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
  if (sweeps_ > 0 || stop_by_) return kBetweenSweeps;
  if (!keeper_ || node_) return std::nullopt;
  const auto due = keeper_->due();
  if (!due) return std::nullopt;
  using std::chrono::milliseconds;
  const auto left = *due - NodeKeeper::Clock::now();
  return std::max(std::chrono::ceil<milliseconds>(left), milliseconds{0});
}

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

bool Server::knows(const std::string& id) const {
  return sandboxes_.contains(id) || ended_.contains(id) || deposits_.contains(id);
}

bool Server::is_full() const {
  // The two sockets of a network count like a sandbox.
  return sandboxes_.size() + ended_.size() + deposits_.all().size() + workshop_.egresses->held() >=
         most_held_;
}

void Server::answer(const frame::Launch& request) {
  auto received = frame::decode_plan(as_bytes(request.plan));
  if (!received) return refuse({}, "malformed", received.error().text());
  const std::string id = received->plan().id;
  auto judged = judge(*received, workshop_.floor);
  if (!judged) {
    log(LogLevel::warning, "launcher", "plan below the floor",
        {{"id", std::string_view{id}}, {"why", std::string_view{judged.error().text()}}});
    return refuse(id, "plan_below_floor", judged.error().text());
  }
  if (knows(id)) return refuse(id, "exists", "the id is in use");
  if (is_full()) return refuse(id, "exhausted", "too many sandboxes are held");
  os::fault_point("launcher.launch.judged");
  auto launched = launch(*judged, workshop_);
  os::fault_point("launcher.launch.made");
  if (auto* failure = std::get_if<LaunchFailure>(&launched)) {
    const std::error_code cause = failure->error.cause();
    return send(frame::Broken{.id = id,
                              .step = failure->step,
                              .error_number = cause ? cause.value() : 0,
                              .text = failure->error.text()});
  }
  Sandbox& sandbox = sandboxes_.emplace(id, std::get<Sandbox>(std::move(launched))).first->second;
  sandbox.tag = next_tag_++;
  tags_.emplace(sandbox.tag, id);
  Status told = epoll_.add(sandbox.init.pidfd(), EPOLLIN, sandbox.tag);
  if (told) told = send_launched(id, sandbox);
  os::fault_point("launcher.launch.told");
  if (told) return;
  static_cast<void>(bury(id));
  send(frame::Broken{.id = id, .step = "hand over", .text = told.error().text()});
}

Status Server::send_launched(const std::string& id, const Sandbox& sandbox) {
  std::vector<const os::Fd*> fds{&sandbox.control, &sandbox.init.pidfd()};
  os::Fd lock;
  if (sandbox.range) {
    TRY(lock, sandbox.range->second_lock());
    fds.push_back(&lock);
  }
  send(frame::Launched{.id = id,
                       .pid = static_cast<std::uint32_t>(sandbox.init.pid()),
                       .first_id = sandbox.range ? sandbox.range->first() : 0,
                       .groups = sandbox.groups.paths(),
                       .tenant = add_network(id, fds)},
       fds);
  return {};
}

// In local use all ends with us, and nobody needs them.
std::string Server::add_network(const std::string& id, std::vector<const os::Fd*>& fds) const {
  const Egresses::Held* const held = workshop_.egresses->find(id);
  if (held == nullptr || when_alone_ == WhenAlone::end) return {};
  fds.insert(fds.end(), {&held->sockets.tcp, &held->sockets.udp});
  return held->tenant;
}

Server::Buried Server::bury(const std::string& id) {
  auto node = sandboxes_.extract(id);
  if (node.empty()) return {.end = {.id = id}, .remains = {}, .mounts = {}};
  Sandbox& sandbox = node.mapped();
  static_cast<void>(epoll_.remove(sandbox.init.pidfd()));
  tags_.erase(sandbox.tag);
  Buried buried;
  if (when_alone_ == WhenAlone::wait) {
    // Where the kernel does not give it (before 6.11) pid 1's end takes as long as it takes.
    if (auto mounts = os::pidfd_mount_namespace(sandbox.init.pidfd())) {
      buried.mounts = *std::move(mounts);
    }
  }
  // The pid namespace dies with pid 1: when it is reaped no process of the sandbox is left.
  static_cast<void>(sandbox.init.signal(SIGKILL));
  os::fault_point("launcher.end.killed");
  // Read while it dies: what it uses from here on is its end, which nobody asked for.
  const frame::GroupUse use = to_frame(sandbox.groups.usage());
  const auto status = std::move(sandbox.init).wait();
  os::fault_point("launcher.end.reaped");
  buried.end = ended(id, status);
  buried.end.use = use;
  buried.remains.emplace(std::move(sandbox));
  return buried;
}

void Server::keep_end(std::uint64_t tag) {
  if (auto reader = readers_.extract(tag); !reader.empty()) {
    static_cast<void>(epoll_.remove(reader.mapped().pidfd()));
    return;  // its end reaps it
  }
  const auto found = tags_.find(tag);
  if (found == tags_.end()) return;
  const std::string id = found->second;
  ended_.emplace(id, bury(id).end);
}

// All are told before the first is waited for: they die side by side.
void Server::end_all() {
  for (const auto& [id, sandbox] : sandboxes_) static_cast<void>(sandbox.init.signal(SIGKILL));
  while (!sandboxes_.empty()) static_cast<void>(bury(sandboxes_.begin()->first));
}

void Server::answer(const frame::Destroy& request) {
  if (auto kept = ended_.extract(request.id); !kept.empty()) return send(std::move(kept.mapped()));
  // It ends when the node has closed its copy too; its groups are left for us then.
  if (deposits_.remove(request.id)) sweeps_ = kSweeps;
  Buried buried = bury(request.id);
  // In local use all ends with us, and nothing may be left then. A service's node need not wait for
  // what no process of the sandbox has a part in any more.
  if (when_alone_ == WhenAlone::end) buried.remains.reset();
  // But for its network: what its egress has to say of it is said before its end is known.
  if (buried.remains) buried.remains->network.reset();
  send(std::move(buried.end));
  os::fault_point("launcher.end.told");
}

void Server::answer(const frame::Fetch& request) {
  if (ended_.contains(request.id)) return refuse(request.id, "ended", "the sandbox has ended");
  const auto held = sandboxes_.find(request.id);
  Deposited* const deposited = deposits_.find(request.id);
  if (held == sandboxes_.end() && deposited == nullptr) {
    return refuse(request.id, "not_found", "no such sandbox");
  }
  os::fault_point("launcher.fetch.asked");
  Status told = hand_over(deposited != nullptr ? deposited->control : held->second.control);
  if (told && deposited == nullptr) told = send_launched(request.id, held->second);
  os::fault_point("launcher.fetch.told");
  if (!told) return refuse(request.id, "unavailable", told.error().text());
  if (deposited == nullptr) return;
  std::vector<const os::Fd*> fds{&deposited->control};
  if (deposited->range) fds.push_back(&deposited->range);
  const std::string tenant = add_network(request.id, fds);
  send(frame::Stored{.id = request.id, .address = {}, .tenant = tenant}, fds);
}

void Server::answer(const frame::Deposit& request, std::vector<os::Fd> fds) {
  if (knows(request.id)) return refuse(request.id, "exists", "the id is in use");
  if (is_full()) return refuse(request.id, "exhausted", "too many sandboxes are held");
  os::fault_point("launcher.deposit.asked");
  auto sockets = take_sockets(fds);
  if (!sockets) return refuse(request.id, "malformed", sockets.error().text());
  if (sockets->has_value() && !is_base32_name(request.tenant)) {
    return refuse(request.id, "malformed", "a tenant that is not of our alphabet");
  }
  const Status added = deposits_.add(request.id, std::move(fds));
  if (!added) return refuse(request.id, "malformed", added.error().text());
  if (*sockets) {
    workshop_.egresses->adopt(request.tenant, request.id, **std::move(sockets));
    deposits_.find(request.id)->network.emplace(*workshop_.egresses, request.id);
  }
  send(frame::Stored{.id = request.id});
}

void Server::answer(const frame::KeepListener& request, std::vector<os::Fd> fds) {
  const std::string about = "listener:" + request.name;
  if (fds.size() > 1) return refuse(about, "malformed", "more than one descriptor");
  if (fds.empty()) {
    listeners_.forget(request.name);
    return send(frame::Stored{.id = about});
  }
  os::fault_point("launcher.listener.asked");
  const Status kept = listeners_.keep(request.name, {request.address, std::move(fds.front())});
  if (!kept) return refuse(about, "malformed", kept.error().text());
  send(frame::Stored{.id = about, .address = request.address, .tenant = {}});
}

void Server::answer(const frame::TakeListener& request) {
  const std::string about = "listener:" + request.name;
  const Listeners::Kept* const kept = listeners_.find(request.name);
  if (kept == nullptr) return refuse(about, "not_found", "no socket of that name is kept");
  const os::Fd* const socket = &kept->socket;
  send(frame::Stored{.id = about, .address = kept->address, .tenant = {}}, {&socket, 1});
}

void Server::answer(const frame::OpenEgress& request, std::vector<os::Fd> fds) {
  const std::string about = "egress:" + request.tenant;
  if (!request.tenant.empty() && !is_base32_name(request.tenant)) {
    return refuse(about, "malformed", "a tenant that is not of our alphabet");
  }
  const auto opened =
      workshop_.open_egress(request.tenant, fds.empty() ? os::Fd{} : std::move(fds.front()));
  if (!opened) return refuse(about, "unavailable", opened.error().text());
  const std::array<const os::Fd*, 2> beside{&opened->link, &opened->state};
  send(frame::EgressOpened{about}, beside);
}

void Server::answer(const frame::OpenBroker& request) {
  const std::string about = "broker:" + request.tenant;
  const auto link = workshop_.egresses->open_broker(request.tenant);
  if (!link) return refuse(about, "unavailable", link.error().text());
  const os::Fd* const beside = &*link;
  send(frame::BrokerOpened{about}, {&beside, 1});
}

void Server::answer(const frame::ReadSource& request) {
  const std::string about = "source:" + std::to_string(request.ticket);
  if (request.ticket == 0) return refuse(about, "malformed", "a ticket is not 0");
  if (readers_.size() >= kMostReaders) {
    return refuse(about, "busy", "too many sources are being read: ask again");
  }
  auto reader = workshop_.egresses->read_source(request);
  if (!reader) {
    const bool denied = reader.error().code() == Errc::denied;
    return refuse(about, denied ? "denied" : "unavailable", reader.error().text());
  }
  const std::uint64_t tag = next_tag_++;
  if (const Status added = epoll_.add(reader->pidfd(), EPOLLIN, tag); !added) {
    return refuse(about, "unavailable", added.error().text());
  }
  readers_.emplace(tag, *std::move(reader));
  send(frame::SourceStarted{about});
}

void Server::answer(const frame::List& request) {
  std::map<std::string, frame::HeldAs> all;
  for (const auto& [id, sandbox] : sandboxes_) all.emplace(id, frame::HeldAs::living);
  for (const auto& [id, end] : ended_) all.emplace(id, frame::HeldAs::ended);
  for (const auto& [id, deposited] : deposits_.all()) all.emplace(id, frame::HeldAs::deposited);
  frame::Sandboxes page;
  for (auto at = all.upper_bound(request.after); at != all.end(); ++at) {
    page.more = page.held.size() == kPage;
    if (page.more) break;
    page.held.push_back({at->first, at->second});
  }
  send(page);
}

}  // namespace cordon::launcher
