// SPDX-License-Identifier: Apache-2.0
// The release of its fleet's policy that a node runs: checked by what it starts with too, kept for
// its next start, recorded, and only then held against what is made from then on. One that cannot
// be taken leaves the one before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "async/task.h"
#include "audit/log.h"
#include "journal/journal.h"
#include "node/admission.h"
#include "node/quotas.h"
#include "token/mac.h"

namespace cordon::node {

// Used from the loop's thread only.
class FleetPolicy {
 public:
  // All outlive it.
  struct Parts {
    Admission& admission;
    Quotas& quotas;
    journal::Journal& journal;
    audit::Log& log;
  };
  // `key`: the node's own; what is made of it leads to no other use of it.
  FleetPolicy(Parts parts, const token::Secret& key);

  // Before anything is made: the one that was kept. What is not as it was kept, or cannot be held
  // any more, is left out: the node's own settings hold, and state() says why.
  void restore(const std::optional<journal::ReleaseRow>& kept);

  // `invalid`: it is none, or cannot hold here; state() tells of it from then on. `exists`: it has
  // this number and was another text.
  async::Task<void> take(std::uint64_t number, std::string text);
  // The node's own settings alone.
  async::Task<void> drop();

  struct Refused {
    std::uint64_t number = 0;
    std::string why;
  };
  struct State {
    std::uint64_t number = 0;  // 0: none
    std::string sha256;        // of its text, in hex
    std::optional<Refused> refused{};
  };
  const State& state() const noexcept { return state_; }
  ReleaseCounts counts() const noexcept { return parts_.admission.release_counts(); }

 private:
  using Release = std::shared_ptr<const gate::Release>;
  Result<Release> read(std::uint64_t number, const std::string& text) const;
  journal::Digest mac_of(std::uint64_t number, std::string_view text) const;
  // From here on.
  Status hold(Release release, State state);
  Error refuse(std::uint64_t number, Error why);
  async::Task<void> keep(std::optional<journal::ReleaseRow> row);

  Parts parts_;
  token::Secret key_;
  State state_;
  std::optional<journal::ReleaseRow> kept_;  // as the journal has it
};

}  // namespace cordon::node
