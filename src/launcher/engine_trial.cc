// SPDX-License-Identifier: Apache-2.0
#include "launcher/engine_trial.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/id.h"
#include "frame/guest.h"
#include "launcher/engine.h"
#include "launcher/runsc.h"
#include "launcher/tell.h"
#include "os/random.h"
#include "os/socket.h"
#include "os/spawn.h"

namespace cordon::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestTrial{5};
constexpr std::size_t kMostVersionText = 4096;
// An older one was never tried with any version of Cordon.
constexpr std::uint32_t kLeastVersion = 20'221'219;
constexpr std::uint32_t kWorkload = 1000;
constexpr std::uint64_t kTrialDisk = std::uint64_t{1} << 20U;
constexpr const char* kRemedy = "apt install runsc";

// Of programs that are there: the first that works is taken.
constexpr std::array kPlatforms = {frame::Platform::systrap, frame::Platform::ptrace};

int left_until(Clock::time_point late) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(late - Clock::now());
  return static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep{0}));
}

bool readable_by(const os::Fd& fd, Clock::time_point late) {
  pollfd news{.fd = fd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&news, 1, left_until(late)) > 0;
}

// The eight digits of "runsc version release-20240401.0", or of any other spelling.
std::optional<std::uint32_t> version_in(std::string_view text) {
  std::size_t digits = 0;
  std::uint32_t value = 0;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && digits == 8) return value;
    value = is_digit && digits < 8 ? value * 10 + static_cast<std::uint32_t>(c - '0') : 0;
    digits = is_digit ? digits + 1 : 0;
  }
  return digits == 8 ? std::optional{value} : std::nullopt;
}

std::string say_version(const std::string& path) {
  auto asked = os::spawn_piped(path, {"runsc", "--version"}, 0);
  if (!asked) return {};
  const Clock::time_point late = Clock::now() + kLongestTrial;
  std::string text;
  std::array<char, 512> piece{};
  while (text.size() < kMostVersionText && readable_by(asked->out, late)) {
    const ssize_t got = ::read(asked->out.get(), piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// Whether it is asked to tell what programs do.
enum class Telling : bool { no, yes };

frame::LaunchPlan trial_plan(const Workshop& workshop, frame::Platform platform, Telling telling,
                             const std::string& id) {
  frame::LaunchPlan plan;
  plan.id = id;
  plan.namespaces = frame::kNamespaces;
  plan.no_new_privs = true;
  // With one id alone runsc has no network stack of its own.
  plan.network = workshop.floor.ranges > 0;
  plan.engine = frame::Engine::gvisor;
  plan.platform = platform;
  plan.traced = telling == Telling::yes;
  plan.ids = workshop.floor.ranges > 0 ? frame::Ids::range : frame::Ids::caller;
  plan.directories = {"/tmp"};
  plan.workspace.target = "/workspace";
  plan.disk = {.bytes = kTrialDisk, .inodes = 1024, .image = false};
  plan.setup.fences.filter = "strict";
  if (plan.ids == frame::Ids::range) {
    plan.setup.fences.uid = kWorkload;
    plan.setup.fences.gid = kWorkload;
  }
  return plan;
}

// What a sandbox tells, one frame after the other.
class Ear {
 public:
  Ear(const os::Fd& control, Clock::time_point late) : control_{control}, late_{late} {}

  Result<frame::FromGuest> next() {
    while (true) {
      TRY(const auto body, cutter_.next());
      if (body) return frame::decode_from_guest(*body);
      if (!readable_by(control_, late_)) return Error{Errc::timeout, "it does not answer"};
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

struct FoundInside {
  std::uint32_t probed = 0;  // by cordon-init: the exit code of `cordon-init probe`
  bool is_told = false;      // that this was started
};

bool tells_of_the_probe(const frame::Traced& traced) {
  return std::ranges::any_of(traced.acts, [](const frame::TracedAct& act) {
    return act.kind == frame::TracedKind::exec && act.path == kInitPlace;
  });
}

Result<FoundInside> ask_inside(const os::Fd& control) {
  Ear ear{control, Clock::now() + kLongestTrial};
  bool is_told = false;
  while (true) {
    TRY(const frame::FromGuest said, ear.next());
    if (const auto* traced = std::get_if<frame::Traced>(&said)) {
      is_told = is_told || tells_of_the_probe(*traced);
    }
    if (const auto* failed = std::get_if<frame::Failed>(&said)) {
      return Error{Errc::unavailable, failed->step};
    }
    if (std::holds_alternative<frame::Hello>(said)) {
      TRY_DO(tell(control, frame::Start{.process = 1,
                                        .arguments = {kInitPlace, "probe"},
                                        .environment = {},
                                        .directory = "/",
                                        .terminal = {},
                                        .input = false}));
    }
    if (const auto* exited = std::get_if<frame::Exited>(&said)) {
      if (exited->by_signal) return Error{Errc::unavailable, "its programs are killed"};
      return FoundInside{.probed = exited->value, .is_told = is_told};
    }
  }
}

Result<FoundInside> try_once(Workshop& workshop, frame::Platform platform, Telling telling) {
  TRY(const auto random, os::random_bytes<10>());
  const frame::LaunchPlan plan =
      trial_plan(workshop, platform, telling, SandboxId::from_bytes(random).text());
  TRY(const frame::ReceivedPlan received, frame::decode_plan(encode(plan)));
  TRY(const JudgedPlan judged, judge(received, workshop.floor));
  auto launched = launch_alone(judged, workshop);
  if (auto* failure = std::get_if<LaunchFailure>(&launched)) {
    return std::move(failure->error).with(failure->step);
  }
  return ask_inside(std::get<Sandbox>(launched).control);
}

// One that knows no trace sessions refuses to start with one, and may be well without.
Result<FoundInside> try_platform(Workshop& workshop, frame::Platform platform) {
  auto found = try_once(workshop, platform, Telling::yes);
  if (found || found.error().code() == Errc::timeout) return found;
  return try_once(workshop, platform, Telling::no);
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  constexpr std::size_t kMost = 300;
  if (text.size() > kMost) text.resize(kMost);
  return text;
}

std::string lacking_of(const FoundInside& found, bool has_network) {
  const std::uint32_t probed = found.probed;
  std::vector<std::string_view> lacking;
  if (!has_network) lacking.emplace_back("no network without root");
  if ((probed & frame::kLacksStatx) != 0) lacking.emplace_back("ls -l and stat fail (statx)");
  if ((probed & frame::kLacksAmbient) != 0) lacking.emplace_back("no process.capabilities");
  if (!found.is_told) lacking.emplace_back("no monitor.record (no trace sessions)");
  return fmt::format("{}", fmt::join(lacking, ", "));
}

}  // namespace

EngineTrial try_gvisor(Workshop& workshop) {
  const std::string& path = workshop.floor.runsc;
  if (path.empty()) return {{Support::absent, "the floor names no runsc", {}}, {}};
  if (const auto parts = open_engine(path); !parts) {
    const bool is_there = ::access(path.c_str(), F_OK) == 0;
    return {{is_there ? Support::blocked : Support::absent,
             is_there ? parts.error().text() : fmt::format("no {}", path), is_there ? "" : kRemedy},
            {}};
  }
  const auto version = version_in(say_version(path));
  const std::string name = version ? fmt::format("runsc {}", *version) : std::string{"runsc"};
  if (version && *version < kLeastVersion) {
    return {{Support::blocked,
             fmt::format("{} is older than {}, the oldest that was tried", name, kLeastVersion),
             {}},
            {}};
  }
  std::string why;
  for (const frame::Platform platform : kPlatforms) {
    const auto found = try_platform(workshop, platform);
    if (!found) {
      why = found.error().text();
      continue;
    }
    const std::string lacking = lacking_of(*found, workshop.floor.ranges > 0);
    return {{lacking.empty() ? Support::ok : Support::limited,
             fmt::format("{}, {}{}{}", name, frame::to_string(platform),
                         lacking.empty() ? "" : "; ", lacking),
             {}},
            std::string{frame::to_string(platform)},
            found->is_told};
  }
  return {{Support::blocked, fmt::format("{} does not start: {}", name, in_one_line(why)), {}}, {}};
}

}  // namespace cordon::launcher
