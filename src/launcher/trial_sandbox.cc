// SPDX-License-Identifier: Apache-2.0
#include "launcher/trial_sandbox.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <variant>

#include "base/id.h"
#include "frame/guest.h"
#include "launcher/tell.h"
#include "os/random.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kWorkload = 1000;
constexpr std::uint64_t kTrialDisk = std::uint64_t{1} << 20U;

// What a sandbox tells, one frame after the other.
class Ear {
 public:
  Ear(const os::Fd& control, Clock::time_point late) : control_{control}, late_{late} {}

  Result<frame::FromGuest> next() {
    while (true) {
      TRY(const auto body, cutter_.next());
      if (body) return frame::decode_from_guest(*body);
      if (!answers_by(control_, late_)) return Error{Errc::timeout, "it does not answer"};
      std::array<std::byte, 4096> piece{};
      TRY(const os::Received got, os::receive(control_, piece));
      if (got.bytes == 0) return Error{Errc::unavailable, "it ended without a word"};
      cutter_.push(std::span{piece}.first(got.bytes));
    }
  }

 private:
  const os::Fd& control_;
  Clock::time_point late_;
  frame::FrameCutter cutter_;
};

Result<Tried> ask_inside(const os::Fd& control, const std::vector<std::string>& arguments,
                         Clock::time_point late) {
  Ear ear{control, late};
  Tried tried;
  while (true) {
    TRY(const frame::FromGuest said, ear.next());
    if (const auto* traced = std::get_if<frame::Traced>(&said)) {
      for (const frame::TracedAct& act : traced->acts) {
        if (act.kind == frame::TracedKind::exec) tried.told.push_back(act.path);
      }
    }
    if (const auto* failed = std::get_if<frame::Failed>(&said)) {
      return Error{Errc::unavailable, failed->step};
    }
    if (std::holds_alternative<frame::Hello>(said)) {
      if (arguments.empty()) return tried;
      TRY_DO(tell(control, frame::Start{.process = 1,
                                        .arguments = arguments,
                                        .environment = {},
                                        .directory = "/",
                                        .terminal = {},
                                        .input = false}));
    }
    if (const auto* exited = std::get_if<frame::Exited>(&said)) {
      if (exited->by_signal) return Error{Errc::unavailable, "its programs are killed"};
      tried.code = exited->value;
      return tried;
    }
  }
}

}  // namespace

bool answers_by(const os::Fd& fd, Clock::time_point late) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(late - Clock::now());
  pollfd news{.fd = fd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&news, 1,
                static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep{0}))) > 0;
}

frame::LaunchPlan trial_plan(const Workshop& workshop, frame::Engine engine) {
  const bool has_ranges = workshop.floor.ranges > 0;
  frame::LaunchPlan plan;
  plan.namespaces = frame::kNamespaces;
  plan.no_new_privs = true;
  // With one id alone runsc has no network stack of its own.
  plan.network = has_ranges || engine == frame::Engine::machine;
  plan.engine = engine;
  plan.ids = has_ranges ? frame::Ids::range : frame::Ids::caller;
  plan.directories = {"/tmp"};
  plan.workspace.target = "/workspace";
  plan.disk = {.bytes = kTrialDisk, .inodes = 1024, .image = false};
  plan.setup.fences.filter = "strict";
  if (has_ranges) {
    plan.setup.fences.uid = kWorkload;
    plan.setup.fences.gid = kWorkload;
  }
  return plan;
}

Result<JudgedPlan> judge_under_new_id(const Workshop& workshop, const frame::LaunchPlan& plan) {
  TRY(const auto random, os::random_bytes<10>());
  frame::LaunchPlan named = plan;
  named.id = SandboxId::from_bytes(random).text();
  TRY(const frame::ReceivedPlan received, frame::decode_plan(encode(named)));
  return judge(received, workshop.floor);
}

Result<Tried> try_plan(Workshop& workshop, const frame::LaunchPlan& plan,
                       const std::vector<std::string>& arguments, std::chrono::seconds patience) {
  TRY(const JudgedPlan judged, judge_under_new_id(workshop, plan));
  auto launched = launch_alone(judged, workshop);
  if (auto* failure = std::get_if<LaunchFailure>(&launched)) {
    return std::move(failure->error).with(failure->step);
  }
  return ask_inside(std::get<Sandbox>(launched).control, arguments, Clock::now() + patience);
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  constexpr std::size_t kMost = 300;
  if (text.size() > kMost) text.resize(kMost);
  return text;
}

}  // namespace cordon::launcher
