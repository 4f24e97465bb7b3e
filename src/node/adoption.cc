// SPDX-License-Identifier: Apache-2.0
#include "node/adoption.h"

#include <map>

#include "base/log.h"
#include "node/ended_sandbox.h"
#include "node/kept_plan.h"
#include "node/kept_verdict.h"
#include "os/fault_point.h"

namespace cordon::node {
namespace {

using Rows = std::map<std::string, journal::SandboxRow>;

class Adoption {
 public:
  Adoption(Rows rows, Residents& residents, sandbox::LauncherLink& launcher,
           sandbox::ServiceBackend& backend, journal::Journal& journal)
      : rows_{std::move(rows)},
        residents_{residents},
        launcher_{launcher},
        backend_{backend},
        journal_{journal} {}

  async::Task<Adopted> run() {
    CO_TRY(const std::vector<frame::Held> held, co_await launcher_.list());
    for (const frame::Held& each : held) CO_TRY_DO(co_await look_at(each));
    // What is left in the journal has nobody: the machine was started anew, or the launcher lost
    // it.
    for (const auto& [id, row] : rows_) {
      ++adopted_.lost;
      CO_TRY_DO(co_await write_end(row));
    }
    co_return adopted_;
  }

 private:
  async::Task<void> look_at(const frame::Held& held) {
    const auto row = rows_.extract(held.id);
    const bool lives = held.as != frame::HeldAs::ended && !row.empty() &&
                       row.mapped().life == journal::Life::living;
    if (lives) {
      const auto going_on = co_await go_on(row.mapped());
      if (going_on) co_return Status{};
      log(LogLevel::error, "node", "a sandbox could not be taken over",
          {{"sandbox", held.id}, {"failure", going_on.error().text()}});
    }
    ++adopted_.ended;
    // Where that fails the launcher has died, and all that it alone had with it.
    static_cast<void>(co_await launcher_.destroy(held.id));
    os::fault_point("node.adopt.ended");
    if (row.empty()) co_return Status{};
    co_return co_await write_end(row.mapped());
  }

  async::Task<void> go_on(const journal::SandboxRow& row) {
    CO_TRY(ResidentFacts facts, facts_of(row));
    CO_TRY(KeptSandbox kept, read_kept(row.policy));
    facts.grants = std::move(kept.grants);
    facts.charges = std::move(kept.charges);
    facts.papers = std::move(kept.papers);
    if (!facts.papers.left_for.empty()) {
      co_return Error{Errc::exists, "it goes on at node " + facts.papers.left_for};
    }
    CO_TRY(auto sandbox, co_await backend_.fetch(row.id));
    os::fault_point("node.adopt.fetched");
    ++adopted_.living;
    co_return co_await residents_.take_over(std::move(facts), std::move(kept.lowered),
                                            std::move(sandbox));
  }

  async::Task<void> write_end(const journal::SandboxRow& row) {
    // Nobody was told of one that was still being made: who asks with its key again gets another.
    if (row.life == journal::Life::making) {
      co_return co_await journal_.write(
          journal::Durability::process,
          [id = row.id](journal::Ledger& ledger) { return ledger.forget(id); });
    }
    Verdict verdict{.ending = Ending::infrastructure,
                    .explanation = "it ended while the node was down"};
    // The node had decided before it went down.
    if (const auto kept = read_kept(row.policy); kept && !kept->papers.left_for.empty()) {
      verdict = {.ending = Ending::moved, .culprit = kept->papers.left_for};
    }
    co_return co_await journal_.write(
        journal::Durability::process,
        [id = row.id, line = kept_text(verdict)](journal::Ledger& ledger) {
          return ledger.set_ended(id, line);
        });
  }

  Rows rows_;
  Residents& residents_;
  sandbox::LauncherLink& launcher_;
  sandbox::ServiceBackend& backend_;
  journal::Journal& journal_;
  Adopted adopted_;
};

}  // namespace

async::Task<Adopted> adopt_all(std::vector<journal::SandboxRow> rows, Residents& residents,
                               sandbox::LauncherLink& launcher, sandbox::ServiceBackend& backend,
                               journal::Journal& journal) {
  Rows by_id;
  for (journal::SandboxRow& row : rows) {
    std::string id = row.id;
    by_id.emplace(std::move(id), std::move(row));
  }
  Adoption adoption{std::move(by_id), residents, launcher, backend, journal};
  co_return co_await adoption.run();
}

}  // namespace cordon::node
