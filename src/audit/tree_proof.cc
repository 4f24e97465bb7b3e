// SPDX-License-Identifier: Apache-2.0
#include "audit/tree_proof.h"

#include <bit>

namespace cordon::audit {
namespace {

// Of [begin, end), where its left child ends. Before: it has at least two leaves.
std::uint64_t middle(std::uint64_t begin, std::uint64_t end) noexcept {
  return begin + std::bit_floor(end - begin - 1);
}

// From the top down; a proof goes from the bottom up.
std::vector<LeafSpan> reversed(const std::vector<LeafSpan>& spans) {
  return {spans.rbegin(), spans.rend()};
}

}  // namespace

std::vector<LeafSpan> steps_of_inclusion(std::uint64_t index, std::uint64_t size) {
  std::vector<LeafSpan> siblings;
  LeafSpan at{0, size};
  while (at.end - at.begin > 1) {
    const std::uint64_t split = middle(at.begin, at.end);
    if (index < split) {
      siblings.push_back({split, at.end});
      at.end = split;
    } else {
      siblings.push_back({at.begin, split});
      at.begin = split;
    }
  }
  return reversed(siblings);
}

std::vector<LeafSpan> steps_of_consistency(std::uint64_t older, std::uint64_t size) {
  std::vector<LeafSpan> siblings;
  if (older == 0 || older == size) return siblings;
  LeafSpan at{0, size};
  while (at.end != older) {
    const std::uint64_t split = middle(at.begin, at.end);
    if (older <= split) {
      siblings.push_back({split, at.end});
      at.end = split;
    } else {
      siblings.push_back({at.begin, split});
      at.begin = split;
    }
  }
  // The older tree itself is known to who asks.
  if (at.begin != 0) siblings.push_back(at);
  return reversed(siblings);
}

Prover::Prover(std::vector<LeafSpan> steps) : steps_{std::move(steps)}, trees_(steps_.size()) {}

void Prover::add(const Digest& leaf) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (next_ >= steps_[i].begin && next_ < steps_[i].end) trees_[i].add(leaf);
  }
  ++next_;
}

std::vector<Digest> Prover::proof() const {
  std::vector<Digest> proof;
  proof.reserve(trees_.size());
  for (const TreeRange& tree : trees_) proof.push_back(tree.root());
  return proof;
}

bool is_included(const Digest& leaf, std::uint64_t index, std::uint64_t size, const Digest& root,
                 std::span<const Digest> proof) noexcept {
  if (index >= size) return false;
  std::uint64_t node = index;
  std::uint64_t last = size - 1;
  Digest hash = leaf;
  for (const Digest& step : proof) {
    if (last == 0) return false;
    if (node % 2 == 1 || node == last) {
      hash = node_hash(step, hash);
      while (node % 2 == 0 && node != 0) {
        node >>= 1U;
        last >>= 1U;
      }
    } else {
      hash = node_hash(hash, step);
    }
    node >>= 1U;
    last >>= 1U;
  }
  return last == 0 && hash == root;
}

bool is_consistent(std::uint64_t older, const Digest& older_root, std::uint64_t size,
                   const Digest& root, std::span<const Digest> proof) noexcept {
  if (older > size) return false;
  if (older == size) return proof.empty() && older_root == root;
  if (older == 0) return proof.empty() && older_root == sha256({});
  // A whole older tree is the first step itself, and is left out of the proof.
  const bool is_whole = std::has_single_bit(older);
  if (!is_whole && proof.empty()) return false;
  Digest was = is_whole ? older_root : proof.front();
  Digest is = was;
  if (!is_whole) proof = proof.subspan(1);
  std::uint64_t node = older - 1;
  std::uint64_t last = size - 1;
  while (node % 2 == 1) {
    node >>= 1U;
    last >>= 1U;
  }
  for (const Digest& step : proof) {
    if (last == 0) return false;
    if (node % 2 == 1 || node == last) {
      was = node_hash(step, was);
      is = node_hash(step, is);
      while (node % 2 == 0 && node != 0) {
        node >>= 1U;
        last >>= 1U;
      }
    } else {
      is = node_hash(is, step);
    }
    node >>= 1U;
    last >>= 1U;
  }
  return last == 0 && was == older_root && is == root;
}

}  // namespace cordon::audit
