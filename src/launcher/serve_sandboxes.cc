// SPDX-License-Identifier: Apache-2.0
// What a node asks of sandboxes: launch, end, fetch, deposit, list.
#include <signal.h>
#include <vector>

#include "base/bytes.h"
#include "base/id.h"
#include "base/log.h"
#include "launcher/handover.h"
#include "launcher/serve.h"
#include "os/fault_point.h"
#include "os/pidfd.h"

namespace cordon::launcher {
namespace {

// Ids have at most 52 letters: this many fit into one message.
constexpr std::size_t kPage = 2'000;

constexpr unsigned kSweeps = 10;

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

}  // namespace

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

Status Server::send_launched(const std::string& id, Sandbox& sandbox) {
  std::vector<const os::Fd*> fds{&sandbox.control, &sandbox.init.pidfd()};
  os::Fd lock;
  if (sandbox.range) {
    TRY(lock, sandbox.range->second_lock());
    fds.push_back(&lock);
  }
  const os::Fd witness = std::move(sandbox.witness);
  if (witness) fds.push_back(&witness);
  send(frame::Launched{.id = id,
                       .pid = static_cast<std::uint32_t>(sandbox.init.pid()),
                       .first_id = sandbox.range ? sandbox.range->first() : 0,
                       .groups = sandbox.groups.paths(),
                       .has_witness = bool{witness},
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
  if (sockets->tcp && !is_base32_name(request.tenant)) {
    return refuse(request.id, "malformed", "a tenant that is not of our alphabet");
  }
  const Status added = deposits_.add(request.id, std::move(fds));
  if (!added) return refuse(request.id, "malformed", added.error().text());
  if (sockets->tcp) {
    workshop_.egresses->adopt(request.tenant, request.id, *std::move(sockets));
    deposits_.find(request.id)->network.emplace(*workshop_.egresses, request.id);
  }
  send(frame::Stored{.id = request.id});
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
