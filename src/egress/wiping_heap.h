// SPDX-License-Identifier: Apache-2.0
// Memory that is given back is overwritten while a secret is on its way.
#pragma once

namespace cordon::egress {

// A host may show the secret in its answer, which then passes through strings, lists and buffers of
// everybody who reads, judges and writes heads. None of them knows; so while one of these lives,
// whatever C++ code of this process gives back to the heap is overwritten first. At other times it
// costs a glance at a counter.
class WipingHeap {
 public:
  WipingHeap() noexcept;
  WipingHeap(const WipingHeap&) = delete;
  WipingHeap& operator=(const WipingHeap&) = delete;
  ~WipingHeap();
};

}  // namespace cordon::egress
