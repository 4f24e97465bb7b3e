// SPDX-License-Identifier: Apache-2.0
// The tree and its proofs against published roots, and against a second implementation that follows
// the definitions of RFC 9162 word for word.
#include <string>

#include <gtest/gtest.h>

#include "audit/tree_proof.h"
#include "base/bytes.h"

namespace cordon::audit {
namespace {

using Leaves = std::span<const Digest>;

Digest raw(std::initializer_list<std::span<const std::byte>> parts) { return sha256(parts); }

std::size_t split_of(std::size_t size) {
  std::size_t split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

// 2.1.1, MTH.
Digest defined_root(Leaves leaves) {
  if (leaves.empty()) return raw({});
  if (leaves.size() == 1) return leaves[0];
  const std::size_t split = split_of(leaves.size());
  const Digest left = defined_root(leaves.first(split));
  const Digest right = defined_root(leaves.subspan(split));
  constexpr std::array kOne{std::byte{1}};
  return raw({kOne, left, right});
}

// 2.1.3.1, PATH.
std::vector<Digest> defined_path(std::size_t index, Leaves leaves) {
  if (leaves.size() == 1) return {};
  const std::size_t split = split_of(leaves.size());
  const bool is_left = index < split;
  std::vector<Digest> path = is_left ? defined_path(index, leaves.first(split))
                                     : defined_path(index - split, leaves.subspan(split));
  path.push_back(defined_root(is_left ? leaves.subspan(split) : leaves.first(split)));
  return path;
}

// 2.1.4.1, SUBPROOF.
std::vector<Digest> defined_subproof(std::size_t older, Leaves leaves, bool is_known) {
  if (older == leaves.size()) {
    return is_known ? std::vector<Digest>{} : std::vector{defined_root(leaves)};
  }
  const std::size_t split = split_of(leaves.size());
  const bool is_left = older <= split;
  std::vector<Digest> proof = is_left
                                  ? defined_subproof(older, leaves.first(split), is_known)
                                  : defined_subproof(older - split, leaves.subspan(split), false);
  proof.push_back(defined_root(is_left ? leaves.subspan(split) : leaves.first(split)));
  return proof;
}

std::vector<Digest> some_leaves(std::size_t count) {
  std::vector<Digest> leaves;
  leaves.reserve(count);
  for (std::size_t i = 0; i < count; ++i) leaves.push_back(leaf_hash(as_bytes(std::to_string(i))));
  return leaves;
}

TreeRange range_of(Leaves leaves, std::uint64_t begin = 0) {
  TreeRange range{begin};
  for (const Digest& leaf : leaves) range.add(leaf);
  return range;
}

std::vector<Digest> proved(std::vector<LeafSpan> steps, Leaves leaves) {
  Prover prover{std::move(steps)};
  for (const Digest& leaf : leaves) prover.add(leaf);
  return prover.proof();
}

// The leaves and roots that implementations of Certificate Transparency are tested with.
TEST(Tree, HasThePublishedRoots) {
  const std::vector<std::string> inputs{
      "",
      std::string(1, '\0'),
      "\x10",
      "\x20\x21",
      "\x30\x31",
      "\x40\x41\x42\x43",
      "\x50\x51\x52\x53\x54\x55\x56\x57",
      "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"};
  const std::vector<std::string> roots{
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
      "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
      "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
      "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
  TreeRange tree;
  EXPECT_EQ(to_hex(tree.root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tree.add(leaf_hash(as_bytes(inputs[i])));
    EXPECT_EQ(to_hex(tree.root()), roots[i]) << i + 1 << " leaves";
  }
}

TEST(Tree, ItsRootAndProofsAreTheDefinedOnes) {
  const std::vector<Digest> all = some_leaves(70);
  for (std::size_t size = 1; size <= all.size(); ++size) {
    const Leaves leaves = Leaves{all}.first(size);
    const Digest root = defined_root(leaves);
    ASSERT_EQ(range_of(leaves).root(), root) << size;
    for (std::size_t index = 0; index < size; ++index) {
      const std::vector<Digest> proof = proved(steps_of_inclusion(index, size), leaves);
      ASSERT_EQ(proof, defined_path(index, leaves)) << index << " of " << size;
      ASSERT_TRUE(is_included(leaves[index], index, size, root, proof)) << index << " of " << size;
    }
    for (std::size_t older = 1; older <= size; ++older) {
      const std::vector<Digest> proof = proved(steps_of_consistency(older, size), leaves);
      ASSERT_EQ(proof, defined_subproof(older, leaves, true)) << older << " of " << size;
      ASSERT_TRUE(is_consistent(older, defined_root(leaves.first(older)), size, root, proof))
          << older << " of " << size;
    }
  }
}

TEST(Tree, AProofOfSomethingElseIsRefused) {
  const std::vector<Digest> leaves = some_leaves(29);
  for (std::uint64_t size = 2; size <= leaves.size(); ++size) {
    const Leaves some = Leaves{leaves}.first(size);
    const Digest root = range_of(some).root();
    for (std::uint64_t index = 0; index < size; ++index) {
      const std::vector<Digest> proof = proved(steps_of_inclusion(index, size), some);
      const Digest& leaf = leaves[index];
      EXPECT_FALSE(is_included(leaf, (index + 1) % size, size, root, proof));
      EXPECT_FALSE(is_included(leaf, size, size, root, proof));
      EXPECT_FALSE(is_included(leaves[(index + 1) % size], index, size, root, proof));
      EXPECT_FALSE(is_included(leaf, index, size, leaf_hash(root), proof));
      EXPECT_FALSE(is_included(leaf, index, size, root, Leaves{proof}.first(proof.size() - 1)));
      std::vector<Digest> longer = proof;
      longer.push_back(root);
      EXPECT_FALSE(is_included(leaf, index, size, root, longer));
      for (std::size_t step = 0; step < proof.size(); ++step) {
        std::vector<Digest> bent = proof;
        bent[step][step] ^= std::byte{1};
        EXPECT_FALSE(is_included(leaf, index, size, root, bent));
      }
    }
    for (std::uint64_t older = 1; older < size; ++older) {
      const Digest was = range_of(some.first(older)).root();
      const std::vector<Digest> proof = proved(steps_of_consistency(older, size), some);
      EXPECT_FALSE(is_consistent(older, leaf_hash(was), size, root, proof));
      EXPECT_FALSE(is_consistent(older, was, size, leaf_hash(root), proof));
      EXPECT_FALSE(is_consistent(size, root, older, was, proof));
      EXPECT_FALSE(is_consistent(older, was, size, root, Leaves{proof}.first(proof.size() - 1)));
      for (std::size_t step = 0; step < proof.size(); ++step) {
        std::vector<Digest> bent = proof;
        bent[step][step] ^= std::byte{1};
        EXPECT_FALSE(is_consistent(older, was, size, root, bent));
      }
    }
  }
}

// An inner node given out as a record has another hash than as a node.
TEST(Tree, ANodeIsNoLeaf) {
  const std::vector<Digest> leaves = some_leaves(2);
  std::vector<std::byte> forged;
  for (const Digest& leaf : leaves) forged.insert(forged.end(), leaf.begin(), leaf.end());
  EXPECT_NE(leaf_hash(forged), range_of(leaves).root());
}

TEST(Tree, RangesJoinToTheRangeOfAll) {
  const std::vector<Digest> leaves = some_leaves(67);
  const Leaves all{leaves};
  for (std::size_t middle = 0; middle <= all.size(); ++middle) {
    for (std::size_t end = middle; end <= all.size(); ++end) {
      TreeRange range = range_of(all.first(middle));
      const TreeRange next = range_of(all.subspan(middle, end - middle), middle);
      ASSERT_TRUE(range.join(next));
      ASSERT_EQ(range, range_of(all.first(end))) << middle << ' ' << end;
      const auto again = TreeRange::from(middle, end, next.hashes());
      ASSERT_TRUE(again) << again.error().text();
      ASSERT_EQ(*again, next);
    }
  }
  EXPECT_FALSE(range_of(all).join(TreeRange{66}));
}

TEST(Tree, ARangeHasItsNumberOfHashes) {
  const std::vector<Digest> hashes = some_leaves(4);
  const Leaves some{hashes};
  EXPECT_TRUE(TreeRange::from(0, 7, some.first(3)));
  EXPECT_FALSE(TreeRange::from(0, 7, some.first(2)));
  EXPECT_FALSE(TreeRange::from(0, 7, some));
  EXPECT_FALSE(TreeRange::from(7, 3, some));
  EXPECT_TRUE(TreeRange::from(7, 7, {}));
  EXPECT_TRUE(
      TreeRange::from(std::uint64_t{1} << 63U, (std::uint64_t{1} << 63U) + 1, some.first(1)));
}

}  // namespace
}  // namespace cordon::audit
