// SPDX-License-Identifier: Apache-2.0
// The process tier behind a launcher that runs as a service: sandboxes outlive their node.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sandbox/process/launcher_link.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class ProcessSandbox;

class ServiceBackend final : public Backend {
 public:
  // `link` outlives it and its sandboxes.
  ServiceBackend(asio::any_io_executor executor, LauncherLink& link)
      : executor_{std::move(executor)}, link_{link}, living_{std::make_shared<Living>()} {}

  Isolation kind() const noexcept override { return Isolation::process; }
  async::Task<std::unique_ptr<Sandbox>> create(frame::LaunchPlan plan) override;
  // One that another node has made, and the launcher has kept.
  async::Task<std::unique_ptr<Sandbox>> fetch(std::string id);

  // Hands all that live to a launcher that has none of them, and says how many. One that cannot be
  // handed over goes on without anybody behind it.
  async::Task<std::size_t> deposit_all();

 private:
  using Living = std::map<std::string, ProcessSandbox*>;
  std::unique_ptr<ProcessSandbox> made_of(LaunchedSandbox launched, Origin origin);

  asio::any_io_executor executor_;
  LauncherLink& link_;
  std::shared_ptr<Living> living_;
};

}  // namespace cordon::sandbox
