// SPDX-License-Identifier: Apache-2.0
#include "launcher/serve.h"

#include <array>
#include <signal.h>
#include <sys/epoll.h>
#include <vector>

#include "base/log.h"
#include "os/pidfd.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr std::uint64_t kNode = 0;

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

Server::Server(Workshop workshop, os::Fd node, WhenAlone when_alone, os::Epoll epoll)
    : workshop_{std::move(workshop)},
      node_{std::move(node)},
      when_alone_{when_alone},
      epoll_{std::move(epoll)} {}

Result<Server> Server::create(Workshop workshop, os::Fd node, WhenAlone when_alone) {
  TRY(os::Epoll epoll, os::Epoll::create());
  TRY_DO(epoll.add(node, EPOLLIN, kNode));
  return Server{std::move(workshop), std::move(node), when_alone, std::move(epoll)};
}

Status Server::run() {
  while (!alone_ || (when_alone_ == WhenAlone::wait && !sandboxes_.empty())) {
    TRY(const auto events, epoll_.wait(std::nullopt));
    for (const os::EpollEvent& event : events) {
      if (event.tag == kNode) {
        TRY_DO(serve_node());
      } else {
        TRY_DO(tell_of_end(event.tag));
      }
    }
  }
  return {};
}

Status Server::serve_node() {
  std::vector<std::byte> buffer(frame::kLongestLauncherMessage);
  auto got = os::receive(node_, buffer, 1);
  if (!got || got->bytes == 0) {
    alone_ = true;
    return epoll_.remove(node_);
  }
  auto message = frame::decode_to_launcher(std::span{buffer}.first(got->bytes));
  if (!message) {
    return send(frame::Refused{.code = "malformed", .text = message.error().text()});
  }
  if (const auto* deposit = std::get_if<frame::Deposit>(&*message)) {
    if (got->fds.size() != 1)
      return send(frame::Refused{deposit->id, "malformed", "no descriptor"});
    return answer(*deposit, std::move(got->fds.front()));
  }
  return std::visit(
      [this](const auto& request) -> Status {
        if constexpr (std::is_same_v<std::decay_t<decltype(request)>, frame::Deposit>) {
          return {};
        } else {
          return answer(request);
        }
      },
      *message);
}

Status Server::send(const frame::FromLauncher& message, std::span<const os::Fd* const> fds) const {
  const auto bytes = frame::encode(message);
  // A node that has gone is noticed when it is read from.
  static_cast<void>(os::send(node_, bytes, fds));
  return {};
}

Status Server::answer(const frame::Launch& request) {
  auto received = frame::decode_plan(as_bytes(request.plan));
  if (!received) return send(frame::Refused{{}, "malformed", received.error().text()});
  const std::string id = received->plan().id;
  auto judged = judge(*received, workshop_.floor);
  if (!judged) {
    log(LogLevel::warning, "launcher", "plan below the floor",
        {{"id", std::string_view{id}}, {"why", std::string_view{judged.error().text()}}});
    return send(frame::Refused{id, "plan_below_floor", judged.error().text()});
  }
  if (sandboxes_.contains(id)) return send(frame::Refused{id, "exists", "the id is in use"});
  auto launched = launch(*judged, workshop_);
  if (auto* failure = std::get_if<LaunchFailure>(&launched)) {
    const std::error_code cause = failure->error.cause();
    return send(frame::Broken{.id = id,
                              .step = failure->step,
                              .error_number = cause ? cause.value() : 0,
                              .text = failure->error.text()});
  }
  Sandbox& sandbox = sandboxes_.emplace(id, std::get<Sandbox>(std::move(launched))).first->second;
  const std::uint64_t tag = next_tag_++;
  tags_.emplace(tag, id);
  TRY_DO(epoll_.add(sandbox.init.pidfd(), EPOLLIN, tag));
  std::vector<const os::Fd*> fds{&sandbox.control, &sandbox.init.pidfd()};
  if (sandbox.range) fds.push_back(&sandbox.range->lock());
  return send(frame::Launched{.id = id,
                              .pid = static_cast<std::uint32_t>(sandbox.init.pid()),
                              .first_id = sandbox.range ? sandbox.range->first() : 0,
                              .groups = sandbox.groups.paths()},
              fds);
}

frame::Ended Server::bury(const std::string& id) {
  auto node = sandboxes_.extract(id);
  if (node.empty()) return {.id = id};
  Sandbox& sandbox = node.mapped();
  static_cast<void>(epoll_.remove(sandbox.init.pidfd()));
  std::erase_if(tags_, [&](const auto& tag) { return tag.second == id; });
  // The pid namespace dies with pid 1: when it is reaped no process of the sandbox is left.
  static_cast<void>(sandbox.init.signal(SIGKILL));
  const auto status = std::move(sandbox.init).wait();
  frame::Ended message = ended(id, status);
  message.use = to_frame(sandbox.groups.usage());
  return message;
}

Status Server::tell_of_end(std::uint64_t tag) {
  const auto found = tags_.find(tag);
  if (found == tags_.end()) return {};
  const std::string id = found->second;
  const auto node = sandboxes_.find(id);
  if (node == sandboxes_.end()) return {};
  return send(bury(id));
}

Status Server::answer(const frame::Destroy& request) { return send(bury(request.id)); }

Status Server::answer(const frame::Fetch& request) {
  const auto held = sandboxes_.find(request.id);
  const auto deposited = deposits_.find(request.id);
  if (held == sandboxes_.end() && deposited == deposits_.end()) {
    return send(frame::Refused{request.id, "not_found", "no such sandbox"});
  }
  const std::array<const os::Fd*, 1> fds{held != sandboxes_.end() ? &held->second.control
                                                                  : &deposited->second};
  return send(frame::Stored{request.id}, fds);
}

Status Server::answer(const frame::Deposit& request, os::Fd control) {
  deposits_.insert_or_assign(request.id, std::move(control));
  return send(frame::Stored{request.id});
}

Status Server::answer(const frame::List&) {
  frame::Sandboxes message;
  for (const auto& [id, sandbox] : sandboxes_) message.ids.push_back(id);
  for (const auto& [id, control] : deposits_) message.ids.push_back(id);
  return send(message);
}

}  // namespace cordon::launcher
