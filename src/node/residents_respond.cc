// SPDX-License-Identifier: Apache-2.0
// What the responses of their policies do to the sandboxes of a node.
#include "base/log.h"
#include "node/residents.h"

namespace cordon::node {

std::unique_ptr<Responses> Residents::responses_of(const plan::Lowered& lowered,
                                                   const SandboxId& id, const std::string& tenant) {
  if (lowered.responses.empty()) return nullptr;
  auto responses = std::make_unique<Responses>(
      parts_.log, audit::Subject{.tenant = tenant, .sandbox = id.text()}, lowered.responses);
  responses->when_taken([this, id, tenant](const Tripped& /*tripped*/, const Denial& denial) {
    tell(id, tenant, event::Denied{denial});
  });
  return responses;
}

asio::awaitable<void> Residents::revoke_network(frame::Serve serve, std::string tenant) {
  const auto held = co_await parts_.networks.of(tenant).change(std::move(serve));
  if (held) co_return;
  log(LogLevel::warning, "node", "an egress has not confirmed that a network is revoked",
      {{"failure", held.error().text()}});
}

void Residents::respond_by(Responses& responses, const std::shared_ptr<Resident>& resident) {
  const auto written = [this, weak = std::weak_ptr{resident}](const Tripped& tripped,
                                                              const auto& act) {
    const auto living = weak.lock();
    if (!living) return;
    living->take_response(tripped.response);
    act(*living);
    scope_->spawn(write_response(living));
  };
  responses.act_by({.kill =
                        [written](const Tripped& tripped) {
                          written(tripped, [&](Resident& living) {
                            living.end({.ending = Ending::policy,
                                        .limit = tripped.response.more_than,
                                        .peak = tripped.reached,
                                        .culprit = tripped.response.rule});
                          });
                        },
                    .freeze =
                        [written](const Tripped& tripped) {
                          written(tripped, [](Resident& living) { living.freeze(); });
                        }});
  responses.revoke_by([written](const Tripped& tripped) {
    written(tripped, [&](Resident& living) { living.revoke_network(tripped.response.rule); });
  });
}

asio::awaitable<void> Residents::write_response(std::shared_ptr<Resident> resident) {
  const auto written = co_await write_change(resident, true);
  if (written) co_return;
  log(LogLevel::error, "node", "a response was not written",
      {{"sandbox", resident->facts().id.text()}, {"failure", written.error().text()}});
}

asio::awaitable<void> Residents::count_births(std::shared_ptr<Resident> resident,
                                              Responses* responses) {
  co_await count_births_of(resident->sandbox(), *responses,
                           [resident] { return resident->is_ending(); });
}

}  // namespace cordon::node
