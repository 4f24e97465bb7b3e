// SPDX-License-Identifier: Apache-2.0
#include "guest/ready_memory.h"

#include <cstdlib>
#include <sys/mman.h>

namespace cordon::guest {
namespace {

constexpr std::size_t kSpareHeap = std::size_t{24} << 10U;

}  // namespace

void ready_memory() {
  // Volatile: else no compiler asks for what is given back at once.
  void* volatile spare = std::malloc(kSpareHeap);
  std::free(spare);
  // Locking is what makes pages; nothing is to stay locked.
  if (::mlockall(MCL_CURRENT) == 0) ::munlockall();
}

}  // namespace cordon::guest
