// SPDX-License-Identifier: Apache-2.0
// cordon-init: pid 1 of every sandbox. The launcher has put the control stream at descriptor 3, and
// where somebody wants to be told of calls, the way to them at 4.
#include <cstddef>
#include <fcntl.h>
#include <malloc.h>

#include "guest/guest.h"
#include "os/fd.h"
#include "os/process.h"

namespace {

constexpr int kControl = 3;
constexpr int kWitness = 4;
// What is larger than a page or two goes back to the kernel as soon as it is free.
constexpr int kLargest = 32 << 10;

}  // namespace

int main() {
  ::mallopt(M_MMAP_THRESHOLD, kLargest);
  ::mallopt(M_TRIM_THRESHOLD, kLargest);
  ::mallopt(M_TOP_PAD, 0);
  // It executes nothing itself, and what it has is nobody else's.
  static_cast<void>(cordon::os::set_cloexec_from(kControl));
  const bool has_witness = ::fcntl(kWitness, F_GETFD) >= 0;
  const cordon::os::Fd witness{has_witness ? kWitness : -1};
  return static_cast<int>(
      cordon::guest::run(cordon::os::Fd{kControl}, {.witness = has_witness ? &witness : nullptr}));
}
