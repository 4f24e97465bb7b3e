// SPDX-License-Identifier: Apache-2.0
#include "audit/tree_range.h"

#include <algorithm>
#include <bit>
#include <ranges>

#include "base/bytes.h"

namespace cordon::audit {
namespace {

constexpr std::array kLeaf{std::byte{0x00}};
constexpr std::array kNode{std::byte{0x01}};

// Of the largest whole subtree at the front of [begin, end). Before: begin < end.
unsigned level_of_first(std::uint64_t begin, std::uint64_t end) noexcept {
  const auto by_length = static_cast<unsigned>(std::bit_width(end - begin)) - 1;
  return begin == 0 ? by_length
                    : std::min(by_length, static_cast<unsigned>(std::countr_zero(begin)));
}

}  // namespace

Digest leaf_hash(std::span<const std::byte> record) noexcept { return sha256({kLeaf, record}); }

Digest node_hash(const Digest& left, const Digest& right) noexcept {
  return sha256({kNode, left, right});
}

Result<TreeRange> TreeRange::from(std::uint64_t begin, std::uint64_t end,
                                  std::span<const Digest> hashes) {
  if (end < begin) return Error{Errc::invalid, "range of a tree: ends before it begins"};
  TreeRange range{begin};
  for (const Digest& hash : hashes) {
    if (range.end_ == end) return Error{Errc::invalid, "range of a tree: too many hashes"};
    range.push({level_of_first(range.end_, end), hash});
  }
  if (range.end_ != end) return Error{Errc::invalid, "range of a tree: too few hashes"};
  return range;
}

Result<TreeRange> TreeRange::from_bytes(std::uint64_t begin, std::uint64_t end,
                                        std::string_view bytes) {
  std::vector<Digest> hashes(bytes.size() / sizeof(Digest));
  if (hashes.size() * sizeof(Digest) != bytes.size()) {
    return Error{Errc::invalid, "a range of a tree has a hash that is not whole"};
  }
  std::ranges::copy(as_bytes(bytes), std::as_writable_bytes(std::span{hashes}).begin());
  return from(begin, end, hashes);
}

std::string TreeRange::bytes() const {
  std::string bytes;
  for (const Subtree& subtree : subtrees_) bytes += as_text(subtree.hash);
  return bytes;
}

std::vector<Digest> TreeRange::hashes() const {
  std::vector<Digest> hashes;
  hashes.reserve(subtrees_.size());
  for (const Subtree& subtree : subtrees_) hashes.push_back(subtree.hash);
  return hashes;
}

// Before: it begins at end_, at a multiple of its own size.
void TreeRange::push(Subtree subtree) {
  std::uint64_t begin = end_;
  end_ += std::uint64_t{1} << subtree.level;
  // Two of a size are one where the left one is a left child.
  while (!subtrees_.empty() && subtrees_.back().level == subtree.level &&
         (begin >> subtree.level) % 2 == 1) {
    begin -= std::uint64_t{1} << subtree.level;
    subtree.hash = node_hash(subtrees_.back().hash, subtree.hash);
    ++subtree.level;
    subtrees_.pop_back();
  }
  subtrees_.push_back(subtree);
}

void TreeRange::add(const Digest& leaf) { push({0, leaf}); }

Status TreeRange::join(const TreeRange& next) {
  if (next.begin_ != end_) {
    return Error{Errc::invalid, "range of a tree: the next one does not begin where this ends"};
  }
  for (const Subtree& subtree : next.subtrees_) push(subtree);
  return {};
}

Digest TreeRange::root() const noexcept {
  if (subtrees_.empty()) return sha256({});
  Digest root = subtrees_.back().hash;
  for (const Subtree& left : subtrees_ | std::views::reverse | std::views::drop(1)) {
    root = node_hash(left.hash, root);
  }
  return root;
}

}  // namespace cordon::audit
