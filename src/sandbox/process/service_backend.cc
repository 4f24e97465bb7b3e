// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process/service_backend.h"

#include "base/log.h"
#include "sandbox/process/process_sandbox.h"

namespace cordon::sandbox {

// Where the launcher cannot end it, a node without rights cannot either.
std::unique_ptr<ProcessSandbox> ServiceBackend::made_of(LaunchedSandbox launched, Origin origin) {
  const std::string id = launched.about.id;
  auto made = std::make_unique<ProcessSandbox>(
      executor_, std::move(launched), origin,
      ProcessSandbox::Ending{.destroy = [&link = link_](std::string which) {
        return link.destroy(std::move(which));
      }});
  (*living_)[id] = made.get();
  made->keep({nullptr, [living = living_, id](void*) { living->erase(id); }});
  return made;
}

async::Task<std::size_t> ServiceBackend::deposit_all() {
  std::vector<std::string> ids;
  ids.reserve(living_->size());
  for (const auto& [id, sandbox] : *living_) ids.push_back(id);
  std::size_t deposited = 0;
  for (const std::string& id : ids) {
    // It may have ended while another was handed over.
    const auto found = living_->find(id);
    if (found == living_->end()) continue;
    auto copies = found->second->copies();
    const Status done = copies ? co_await link_.deposit(*std::move(copies)) : copies.error();
    if (done) {
      ++deposited;
      continue;
    }
    if (link_.is_lost()) co_return done.error();
    log(LogLevel::error, "sandbox", "the launcher does not take a sandbox",
        {{"sandbox", id}, {"failure", done.error().text()}});
  }
  co_return deposited;
}

async::Task<std::unique_ptr<Sandbox>> ServiceBackend::create(frame::LaunchPlan plan) {
  CO_TRY(LaunchedSandbox launched, co_await link_.launch(plan));
  auto made = made_of(std::move(launched), Origin::launched);
  if (plan.setup.standby) made->expect_standby();
  co_return std::unique_ptr<Sandbox>{std::move(made)};
}

async::Task<std::unique_ptr<Sandbox>> ServiceBackend::fetch(std::string id) {
  CO_TRY(LaunchedSandbox launched, co_await link_.fetch(std::move(id)));
  co_return std::unique_ptr<Sandbox>{made_of(std::move(launched), Origin::fetched)};
}

}  // namespace cordon::sandbox
