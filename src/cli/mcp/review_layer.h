// SPDX-License-Identifier: Apache-2.0
// The one layer in which the writes of all sandboxes of a server wait for review. Sandboxes have it
// one after the other, never two at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/result.h"
#include "review/apply.h"
#include "review/change.h"
#include "review/run_directory.h"

namespace cordon::cli {

struct LayerPlace {
  std::string state;      // where Cordon keeps what outlives runs
  std::string workspace;  // absolute, without links
  review::OverlayMarks marks = review::OverlayMarks::user;
};

// What waits, as it was shown to somebody.
struct LayerView {
  std::optional<RunId> run;  // nothing: nothing waits, and nothing did
  std::vector<review::Change> changes;
  std::string digest;  // of all of it: what is there, and when the kernel last saw it change
};

struct ChangeCounts {
  std::uint64_t added = 0, modified = 0, deleted = 0;
};
ChangeCounts count(const std::vector<review::Change>& changes);

// Between sandboxes nobody holds it: a person may apply or discard it at a terminal meanwhile. Its
// functions block; one is called at a time.
class ReviewLayer {
 public:
  // `clock` outlives it.
  ReviewLayer(LayerPlace place, const Clock& clock) : place_{std::move(place)}, clock_{clock} {}

  // For a sandbox: made where there is none, and held until close(). `unavailable`: somebody else
  // has it.
  Result<RunId> open();
  void close(const std::string& verdict);

  // `most`: entries; more is an error (exhausted).
  Result<LayerView> look(std::size_t most = review::ScanLimits{}.entries) const;
  // One of what look() found, as a unified diff.
  Result<std::string> patch(const review::Change& change) const;

  // `invalid`: what waits is not what `digest` was given for. `unavailable`: a sandbox has it.
  Result<review::ApplyReport> apply(const review::Selection& selection, const std::string& digest);

  // Where nothing waits in it, its directory goes. Gives the run whose changes wait still.
  std::optional<RunId> settle();

 private:
  Result<review::RunDirectory> directory() const;
  static Result<LayerView> view(const review::RunDirectory& run, std::size_t most);

  LayerPlace place_;
  const Clock& clock_;
  std::optional<RunId> id_;
  std::optional<review::RunDirectory> held_;  // while a sandbox has it
};

}  // namespace cordon::cli
