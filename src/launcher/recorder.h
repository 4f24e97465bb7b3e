// SPDX-License-Identifier: Apache-2.0
// The monitor's program in the kernel, as its launcher holds it: it runs for as long as somebody
// has these descriptors.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/result.h"
#include "frame/launcher.h"
#include "os/fd.h"
#include "record/host_facts.h"

namespace cordon::launcher {

class Recorder {
 public:
  // What cordon-bpf hands over.
  using Parts = std::array<os::Fd, frame::kRecorderParts>;

  // By cordon-bpf, which has ended when this returns.
  static Result<Recorder> load();
  // Of an earlier launcher, from a node that had copies. `invalid`: not as many.
  static Result<Recorder> of(std::vector<os::Fd> parts);

  const Parts& parts() const noexcept { return parts_; }

 private:
  explicit Recorder(Parts parts) : parts_{std::move(parts)} {}
  Parts parts_;
};

// What a host is that it could, or could not, be loaded on.
Fact fact_of(const Result<Recorder>& loaded);

}  // namespace cordon::launcher
