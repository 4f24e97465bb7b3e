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
constexpr std::chrono::seconds kTrial{20};

Result<frame::EngineTried> ask_launcher(const HostFacts& host) {
  asio::io_context loop{1};
  const bool spare = !host.root && host.has(Feature::id_ranges);
  TRY(auto launcher,
      sandbox::LocalLauncher::start(loop.get_executor(), program_beside("cordon-launcher"), spare));
  return async::block_on(loop, async::within(kTrial, launcher.try_engine()));
}

}  // namespace

void try_engines(HostFacts& host) {
  Fact& fact = host[Feature::gvisor];
  if (level_of(host).level == Level::none) {
    fact = {Support::blocked, "no sandbox can be launched here", {}};
    return;
  }
  auto tried = ask_launcher(host);
  if (!tried) {
    fact = {Support::blocked, tried.error().text(), {}};
    return;
  }
  const auto most = static_cast<std::uint32_t>(Support::absent);
  fact = {static_cast<Support>(std::min(tried->support, most)), std::move(tried->detail),
          std::move(tried->remedy)};
  host.gvisor_platform = std::move(tried->platform);
  host.gvisor_traces = tried->traces;
}

}  // namespace cordon::cli
