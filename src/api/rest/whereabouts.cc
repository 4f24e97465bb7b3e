// SPDX-License-Identifier: Apache-2.0
#include "api/rest/whereabouts.h"

#include <fmt/format.h>

namespace cordon::api {

async::Task<std::optional<wire::ProblemAnswer>> whereabouts_of(const node::Residents& residents,
                                                               SandboxId id, std::string tenant) {
  std::optional<wire::ProblemAnswer> answer;
  // Whoever makes an id up asks the journal nothing.
  if (!residents.knows(id)) co_return answer;
  if (residents.is_arriving(id)) {
    answer = wire::ProblemAnswer{.status = 503,
                                 .code = "CORDON-NODE-ARRIVING",
                                 .detail = "the sandbox is being moved to this node",
                                 .remedy = "send it again in a moment",
                                 .moved = "here"};
    co_return answer;
  }
  CO_TRY(const auto ended, co_await residents.find_ended(id));
  const bool is_theirs = ended && (tenant.empty() || ended->facts.tenant == tenant);
  if (!is_theirs || ended->verdict.ending != Ending::moved) co_return answer;
  answer = wire::ProblemAnswer{
      .status = 410,
      .code = "CORDON-NODE-MOVED",
      .detail = fmt::format("the sandbox was moved to node {}", ended->verdict.culprit),
      .remedy = "ask there, or a gateway, which knows it by the same name",
      .moved = ended->verdict.culprit};
  co_return answer;
}

}  // namespace cordon::api
