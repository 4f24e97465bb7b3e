// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/process_backend.h"

#include <utility>

#include "sandbox/process/process_sandbox.h"

namespace cordon::sandbox {
namespace {

// Nobody but its launcher can end it in order: without one it does not go on.
class Watched {
 public:
  Watched(LocalLauncher& launcher, std::weak_ptr<GuestLink> link) : launcher_{launcher} {
    launcher_.when_ended([link = std::move(link)] {
      if (const auto held = link.lock()) held->close("the launcher has ended");
    });
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { launcher_.ignore_end(); }

 private:
  LocalLauncher& launcher_;
};

}  // namespace

async::Task<std::unique_ptr<Sandbox>> ProcessBackend::create(frame::LaunchPlan plan) {
  CO_TRY(LaunchedSandbox launched, co_await launcher_.launch(plan));
  auto made = std::make_unique<ProcessSandbox>(
      executor_, std::move(launched), Origin::launched,
      ProcessSandbox::Ending{
          .destroy = [&launcher =
                          launcher_](std::string id) { return launcher.destroy(std::move(id)); },
          .alone = true});
  if (plan.setup.standby) made->expect_standby();
  made->keep(std::make_shared<Watched>(launcher_, made->link()));
  std::unique_ptr<Sandbox> sandbox = std::move(made);
  co_return sandbox;
}

}  // namespace cordon::sandbox
