// SPDX-License-Identifier: Apache-2.0
// The process tier: a sandbox is a tree of processes that a launcher built.
#pragma once

#include "sandbox/process/local_launcher.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class ProcessBackend final : public Backend {
 public:
  // `launcher` outlives it.
  ProcessBackend(asio::any_io_executor executor, LocalLauncher& launcher)
      : executor_{std::move(executor)}, launcher_{launcher} {}

  Isolation kind() const noexcept override { return Isolation::process; }
  async::Task<std::unique_ptr<Sandbox>> create(frame::LaunchPlan plan) override;

 private:
  asio::any_io_executor executor_;
  LocalLauncher& launcher_;
};

}  // namespace cordon::sandbox
