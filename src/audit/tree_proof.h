// SPDX-License-Identifier: Apache-2.0
// Proofs of RFC 9162 2.1.3 and 2.1.4: that a record is in a tree, and that a tree continues
// another.
#pragma once

#include <span>
#include <vector>

#include "audit/tree_range.h"

namespace cordon::audit {

// Some leaves of a tree, whose hash as a tree of their own is one step of a proof.
struct LeafSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const LeafSpan&, const LeafSpan&) = default;
};

// What a proof consists of, in its order. Before: index < size; older <= size.
std::vector<LeafSpan> steps_of_inclusion(std::uint64_t index, std::uint64_t size);
std::vector<LeafSpan> steps_of_consistency(std::uint64_t older, std::uint64_t size);

// Hears the leaves of a tree from 0 on, each once, and keeps only what its proof needs.
class Prover {
 public:
  explicit Prover(std::vector<LeafSpan> steps);
  void add(const Digest& leaf);
  // Before: all leaves were added.
  std::vector<Digest> proof() const;

 private:
  std::uint64_t next_ = 0;
  std::vector<LeafSpan> steps_;
  std::vector<TreeRange> trees_;
};

bool is_included(const Digest& leaf, std::uint64_t index, std::uint64_t size, const Digest& root,
                 std::span<const Digest> proof) noexcept;
bool is_consistent(std::uint64_t older, const Digest& older_root, std::uint64_t size,
                   const Digest& root, std::span<const Digest> proof) noexcept;

}  // namespace cordon::audit
