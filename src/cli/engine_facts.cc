// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_facts.h"

#include <algorithm>

#include <boost/asio/io_context.hpp>

#include "async/block_on.h"
#include "async/deadline.h"
#include "cli/program_beside.h"
#include "sandbox/process/local_launcher.h"

namespace cordon::cli {
namespace {

// Longer than the launcher's own patience with each platform.
constexpr std::chrono::seconds kGvisorTrial{20};
constexpr std::chrono::seconds kMachineTrial{90};

Result<frame::EngineTried> ask_launcher(const HostFacts& host, bool machine) {
  asio::io_context loop{1};
  const bool spare = !host.root && host.has(Feature::id_ranges);
  TRY(auto launcher,
      sandbox::LocalLauncher::start(loop.get_executor(), program_beside("cordon-launcher"), spare));
  return async::block_on(
      loop, async::within(machine ? kMachineTrial : kGvisorTrial, launcher.try_engine(machine)));
}

// By what it works; empty: it does not.
std::string try_engine(HostFacts& host, Feature feature) {
  Fact& fact = host[feature];
  if (level_of(host).level == Level::none) {
    fact = {Support::blocked, "no sandbox can be launched here", {}};
    return {};
  }
  auto tried = ask_launcher(host, feature == Feature::microvm);
  if (!tried) {
    fact = {Support::blocked, tried.error().text(), {}};
    return {};
  }
  const auto most = static_cast<std::uint32_t>(Support::absent);
  fact = {static_cast<Support>(std::min(tried->support, most)), std::move(tried->detail),
          std::move(tried->remedy)};
  (feature == Feature::gvisor ? host.gvisor_traces : host.machine_traces) = tried->traces;
  return std::move(tried->platform);
}

}  // namespace

void try_gvisor(HostFacts& host) { host.gvisor_platform = try_engine(host, Feature::gvisor); }

void try_machine(HostFacts& host) { host.accelerator = try_engine(host, Feature::microvm); }

}  // namespace cordon::cli
