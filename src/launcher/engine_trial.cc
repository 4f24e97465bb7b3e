// SPDX-License-Identifier: Apache-2.0
#include "launcher/engine_trial.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frame/guest.h"
#include "launcher/engine.h"
#include "launcher/runsc.h"
#include "launcher/trial_sandbox.h"
#include "os/spawn.h"

namespace cordon::launcher {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestTrial{5};
constexpr std::size_t kMostVersionText = 4096;
// An older one was never tried with any version of Cordon.
constexpr std::uint32_t kLeastVersion = 20'221'219;
constexpr const char* kRemedy = "apt install runsc";

// Of programs that are there: the first that works is taken.
constexpr std::array kPlatforms = {frame::Platform::systrap, frame::Platform::ptrace,
                                   frame::Platform::old_ptrace};

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
  while (text.size() < kMostVersionText && answers_by(asked->out, late)) {
    const ssize_t got = ::read(asked->out.get(), piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

struct FoundInside {
  std::uint32_t probed = 0;  // by cordon-init: the exit code of `cordon-init probe`
  bool is_told = false;      // that this was started
};

// Whether it is asked to tell what programs do.
enum class Telling : bool { no, yes };

Result<FoundInside> try_once(Workshop& workshop, frame::Platform platform, Telling telling) {
  frame::LaunchPlan plan = trial_plan(workshop, frame::Engine::gvisor);
  plan.platform = platform;
  plan.traced = telling == Telling::yes;
  TRY(const Tried tried, try_plan(workshop, plan, {kInitPlace, "probe"}, kLongestTrial));
  const bool is_told = std::ranges::find(tried.told, kInitPlace) != tried.told.end();
  return FoundInside{.probed = tried.code, .is_told = is_told};
}

// One that knows no trace sessions refuses to start with one, and may be well without.
Result<FoundInside> try_platform(Workshop& workshop, frame::Platform platform) {
  auto found = try_once(workshop, platform, Telling::yes);
  if (found || found.error().code() == Errc::timeout) return found;
  return try_once(workshop, platform, Telling::no);
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
  if (const auto parts = open_gvisor(path, workshop.pins); !parts) {
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
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", frame::to_string(platform),
                         in_one_line(found.error().text()));
      continue;
    }
    const std::string lacking = lacking_of(*found, workshop.floor.ranges > 0);
    return {
        {lacking.empty() ? Support::ok : Support::limited,
         fmt::format("{}, {}{}{}", name, word_of(platform), lacking.empty() ? "" : "; ", lacking),
         {}},
        std::string{frame::to_string(platform)},
        found->is_told};
  }
  return {{Support::blocked, fmt::format("{} does not start: {}", name, why), {}}, {}};
}

}  // namespace cordon::launcher
