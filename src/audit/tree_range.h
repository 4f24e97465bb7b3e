// SPDX-License-Identifier: Apache-2.0
// The Merkle tree of RFC 9162, by as few hashes as tell all of a run of its leaves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hash/sha256.h"

namespace cordon::audit {

// Leaves and inner nodes are hashed apart, so that neither can pass for the other.
Digest leaf_hash(std::span<const std::byte> record) noexcept;
Digest node_hash(const Digest& left, const Digest& right) noexcept;

// The leaves [begin, end) of a tree, as the largest whole subtrees that they hold: at most 126
// hashes. Grows to the right only: who holds a range and is given the next one knows that nothing
// of the first has changed.
class TreeRange {
 public:
  explicit TreeRange(std::uint64_t begin = 0) noexcept : begin_{begin}, end_{begin} {}
  // `hashes`: from left to right. `invalid`: a range of this size has another number of them.
  static Result<TreeRange> from(std::uint64_t begin, std::uint64_t end,
                                std::span<const Digest> hashes);
  static Result<TreeRange> from_bytes(std::uint64_t begin, std::uint64_t end,
                                      std::string_view bytes);

  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }
  std::vector<Digest> hashes() const;
  // The hashes one behind the other, as messages carry them.
  std::string bytes() const;

  void add(const Digest& leaf);
  // `invalid`: `next` does not begin where this ends.
  Status join(const TreeRange& next);

  // Of the tree of all its leaves. Before: it begins at 0.
  Digest root() const noexcept;

  friend bool operator==(const TreeRange&, const TreeRange&) = default;

 private:
  struct Subtree {
    unsigned level = 0;  // it has 2^level leaves
    Digest hash{};
    friend bool operator==(const Subtree&, const Subtree&) = default;
  };
  void push(Subtree subtree);

  std::uint64_t begin_;
  std::uint64_t end_;
  std::vector<Subtree> subtrees_;
};

}  // namespace cordon::audit
