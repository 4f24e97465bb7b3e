// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a cordon-unpack says, which may have been taken over by its archive: acts that
// keep their bounds, or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "frame/archive.h"
#include "frame/guest.h"
#include "node/tree_batch.h"
#include "promise.h"

namespace {

namespace frame = cordon::frame;
using cordon::fuzz::broken;

void check(const frame::WriteTree& act) {
  if (act.pieces.size() > frame::kMostTreePieces) broken("no more pieces than one act takes");
  if (act.bytes.size() > frame::kMostTreeBytes) broken("no more bytes than one act takes");
  std::uint64_t counted = 0;
  for (const frame::TreePiece& piece : act.pieces) {
    if (piece.count > 0 && piece.entry.type != frame::ArchiveType::file) broken("bytes of a file");
    counted += piece.count;
  }
  if (counted != act.bytes.size()) broken("every byte belongs to a piece");
  if (encode(frame::ToGuest{act}).size() > frame::kLongestGuestFrame)
    broken("a frame in its bound");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  frame::FrameCutter cutter{frame::kLongestArchiveFrame};
  cutter.push(std::as_bytes(std::span{data, size}));
  cordon::node::TreeBatch batch;
  while (true) {
    const auto next = cutter.next();
    const auto body = next ? *next : std::nullopt;
    if (!body) break;
    auto said = frame::decode_from_archive(*body);
    if (!said) break;
    if (auto* entry = std::get_if<frame::ArchiveEntry>(&*said)) {
      batch.take(std::move(*entry));
    } else if (const auto* part = std::get_if<frame::ArchiveData>(&*said)) {
      if (!batch.take(*part)) break;
    } else {
      break;
    }
    if (batch.is_full()) check(batch.cut());
  }
  batch.end();
  while (!batch.is_empty()) check(batch.cut());
  return 0;
}
