// SPDX-License-Identifier: Apache-2.0
// What the host says. An error ends the guest: a stream that carries what no host sends cannot be
// trusted any further.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <unistd.h>
#include <utility>
#include <variant>

#include "guest/loop.h"
#include "os/file.h"
#include "os/prctl.h"

namespace cordon::guest {
namespace {

constexpr std::size_t kMostProcesses = 4096;
constexpr std::size_t kLeastRing = std::size_t{4} << 10U;
constexpr std::size_t kMostRing = std::size_t{64} << 20U;
constexpr int kMostSignals = 64;

}  // namespace

Status Loop::on_body(std::span<const std::byte> body) {
  TRY(auto frame, frame::decode_to_guest(body));
  const bool is_of_launch =
      std::holds_alternative<frame::Setup>(frame) || std::holds_alternative<frame::Tree>(frame);
  if (!setup_ && !is_of_launch) return nonsense("a frame before Setup");
  if (!is_of_launch) {
    starter_.await_requests();
    // A host that has just come says Resume, and asks for nothing by it.
    if (!std::holds_alternative<frame::Resume>(frame)) TRY_DO(hold_disk());
  }
  body_ = body;
  return std::visit([this](auto& each) { return on_frame(std::move(each)); }, frame);
}

Status Loop::on_frame(frame::Setup&& setup) {
  if (setup_) return nonsense("a second Setup");
  if (setup.ring < kLeastRing || setup.ring > kMostRing) return fall("ring", EINVAL);
  if (setup.least_version > frame::kGuestVersion || setup.most_version < setup.least_version ||
      setup.most_version < frame::kGuestVersion) {
    return fall("version", EPROTONOSUPPORT);
  }
  setup_ = std::move(setup);
  starter_.prepare(setup_->fences, body_);
  return tree_stands_ ? settle() : Status{};
}

Status Loop::on_frame(const frame::Tree& tree) {
  if (tree.stands == tree_stands_ || tree.stands != setup_.has_value()) {
    return nonsense("a tree that is not expected");
  }
  tree_stands_ = tree.stands;
  return tree_stands_ ? settle() : Status{};
}

// Setup is here, and the tree stands.
Status Loop::settle() {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  const auto& standby = setup_->standby;
  if (standby || !options_.own_kernel) TRY_DO(hold_disk());
  const Status made = starter_.begin();
  if (!made) return fall("spawner", made.error().cause().value());
  return standby ? begin_standby(*standby) : Status{};
}

Status Loop::hold_disk() {
  // NOLINTBEGIN(bugprone-unchecked-optional-access): Setup is the first frame of all
  if (disk_ || !tree_stands_ || setup_->disk.empty()) return {};
  auto disk = os::openat(os::at_cwd(), setup_->disk.c_str(), O_PATH | O_DIRECTORY);
  if (!disk) return fall("disk", disk.error().cause().value());
  // NOLINTEND(bugprone-unchecked-optional-access)
  disk_ = *std::move(disk);
  return {};
}

Status Loop::begin_standby(const frame::Start& standby) {
  if (standby.process != frame::kStandby) return nonsense("a standby of another number");
  const std::vector<std::byte> framed = encode(frame::ToGuest{standby});
  body_ = std::span{framed}.subspan(sizeof(std::uint32_t));
  return on_frame(standby);
}

Status Loop::on_frame(const frame::Start& start) {
  if (!tree_stands_) return nonsense("a start before the tree stands");
  if (start.process == 0 || start.process > frame::kLastProcess || find(start.process) != nullptr) {
    return nonsense("a process number that is taken");
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Setup is the first frame of all
  if (start.as_root && !setup_->fences.root_too)
    return nonsense("a process as an id that none has");
  highest_ = std::max(highest_, start.process);
  if (processes_.size() >= kMostProcesses) {
    reply(frame::Failed{.process = start.process, .step = "processes", .error_number = EAGAIN});
    return {};
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): Setup is the first frame of all
  Process& process = processes_.try_emplace(start.process, start, setup_->ring).first->second;
  if (stillness_.is_on()) {
    process.fail(epoll_, kFrozen, EAGAIN);
    return {};
  }
  const Starter::Wanted wanted{.process = start.process, .as_root = start.as_root};
  if (!starter_.ask_start(wanted, {body_.begin(), body_.end()})) {
    process.fail(epoll_, "spawner", EAGAIN);
  }
  return {};
}

Status Loop::on_frame(const frame::Input& input) {
  Process* process = find(input.process);
  if (process == nullptr) return {};  // it may have been forgotten a moment ago
  return process->input().give(epoll_, input.offset, input.bytes, input.last);
}

Status Loop::on_frame(const frame::Signal& signal) {
  if (signal.number == 0 || signal.number > kMostSignals) return nonsense("no such signal");
  if (signal.to == frame::SignalTo::all) {
    if (signal.number == SIGSTOP && options_.pid_namespace) return stand_still();
    // Where all goes on already nobody is woken whom the workload has stopped.
    if (signal.number == SIGCONT && options_.pid_namespace) {
      stillness_.end();
    } else {
      kill_all(signal.number);
    }
    return {};
  }
  // All go on together, or nobody does.
  if (stillness_.is_on() && signal.number == SIGCONT) return {};
  const Process* process = find(signal.process);
  if (process == nullptr || process->live_pid() == 0) return {};
  const auto number = static_cast<int>(signal.number);
  const bool has_herald = !stillness_.is_on();  // else it stands like all others
  if (signal.to == frame::SignalTo::group && has_herald && process->signal_foreground(number)) {
    return {};
  }
  const pid_t target =
      signal.to == frame::SignalTo::group ? -process->group() : process->live_pid();
  ::kill(target, number);
  return {};
}

Status Loop::on_frame(const frame::Resize& resize) {
  const Process* process = find(resize.process);
  if (process != nullptr) static_cast<void>(process->resize(resize.size));
  return {};
}

Status Loop::on_frame(const frame::Acknowledge& acknowledge) {
  Process* process = find(acknowledge.process);
  if (process == nullptr) return {};
  TRY(const bool known,
      process->output(acknowledge.stream).acknowledge(epoll_, acknowledge.offset));
  if (!known) return nonsense("an acknowledgement of what was never sent");
  return {};
}

Status Loop::on_frame(const frame::AcknowledgeExit& acknowledge) {
  Process* process = find(acknowledge.process);
  if (process != nullptr) process->acknowledge_exit();
  return {};
}

Status Loop::on_frame(const frame::Resume&) {
  hello_owed_ = stands_;
  replies_ = std::vector<std::byte>{};
  abandon_aside();
  // Acknowledged in the same breath: not to be told again.
  std::erase_if(processes_, [](const auto& entry) { return entry.second.forgotten(); });
  for (auto& [number, process] : processes_) process.resume();
  return {};
}

Status Loop::on_frame(const frame::AskUsage& ask) {
  reply(frame::Usage{.request = ask.request,
                     .disk = disk_use(),
                     .processes = count_processes(),
                     .born = count_born()});
  return {};
}

// Of a machine, whose own first process has taken it before there was a guest.
Status Loop::on_frame(const frame::Wake&) { return nonsense("Wake"); }

}  // namespace cordon::guest
