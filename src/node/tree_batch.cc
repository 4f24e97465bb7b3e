// SPDX-License-Identifier: Apache-2.0
#include "node/tree_batch.h"

#include <algorithm>
#include <utility>

namespace cordon::node {
namespace {

using frame::ArchiveType;

// Of a piece beside its names.
constexpr std::size_t kPiece = 64;
// Room for whatever one more frame brings.
constexpr std::size_t kFullAt =
    frame::kMostTreeBytes - frame::kMostArchiveData - 2 * frame::kLongestArchivePath - kPiece;
// Whoever makes it has to get at it until it is done.
constexpr std::uint32_t kWhileFile = 0600;
constexpr std::uint32_t kWhileDirectory = 0700;

}  // namespace

bool TreeBatch::is_full() const noexcept {
  // One more for the mode of the last file.
  return used_ >= kFullAt || held_.pieces.size() + 2 >= frame::kMostTreePieces;
}

void TreeBatch::add(frame::TreePiece piece) {
  used_ += kPiece + piece.entry.path.size() + piece.entry.target.size();
  held_.pieces.push_back(std::move(piece));
}

void TreeBatch::take(frame::ArchiveEntry entry) {
  end_file();
  if (entry.path == ".") return;
  switch (entry.type) {
    case ArchiveType::file:
      file_ = entry;
      entry.mode |= kWhileFile;
      has_last_ = is_whole_ = true;
      break;
    case ArchiveType::directory:
      directories_.push_back(entry);
      entry.mode |= kWhileDirectory;
      break;
    case ArchiveType::link:
    case ArchiveType::hard_link:
      break;
  }
  add({.entry = std::move(entry)});
}

Status TreeBatch::take(const frame::ArchiveData& data) {
  if (!file_) return Error{Errc::invalid, "bytes of no file"};
  const bool goes_on =
      has_last_ && held_.pieces.back().offset + held_.pieces.back().count == data.offset;
  if (!goes_on) {
    // Where it would begin again what was there is made again, and is the same.
    frame::TreePiece piece{.entry = *file_, .offset = data.offset};
    piece.entry.mode |= kWhileFile;
    add(std::move(piece));
    is_whole_ = false;
    has_last_ = true;
  }
  held_.pieces.back().count += static_cast<std::uint32_t>(data.bytes.size());
  held_.bytes += data.bytes;
  used_ += data.bytes.size();
  return {};
}

void TreeBatch::end_file() {
  if (!file_) return;
  frame::ArchiveEntry file = *std::move(file_);
  file_.reset();
  const bool is_open = (file.mode & kWhileFile) == kWhileFile;
  if (has_last_ && is_whole_) {
    held_.pieces.back().entry.mode = file.mode;
  } else if (!is_open) {
    const std::uint64_t behind = std::max<std::uint64_t>(file.size, 1);
    add({.entry = std::move(file), .offset = behind});
  }
  has_last_ = is_whole_ = false;
}

void TreeBatch::end() {
  end_file();
  has_ended_ = true;
  add_directories();
}

// From the innermost up: what is changed in one changes its time.
void TreeBatch::add_directories() {
  while (!directories_.empty() && !is_full()) {
    add({.entry = std::move(directories_.back())});
    directories_.pop_back();
  }
}

frame::WriteTree TreeBatch::cut() {
  frame::WriteTree act = std::exchange(held_, {});
  used_ = 0;
  has_last_ = is_whole_ = false;
  if (has_ended_) add_directories();
  return act;
}

}  // namespace cordon::node
