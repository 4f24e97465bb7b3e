// SPDX-License-Identifier: Apache-2.0
#include "node/tree_transfer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "node/tree_batch.h"

namespace cordon::node {
namespace {

constexpr std::size_t kPart = std::size_t{128} << 10U;

Status done(const frame::FileReply& reply) {
  if (reply.error_number == 0) return {};
  return Error::from_errno(reply.bytes.empty() ? "the tree" : reply.bytes, reply.error_number);
}

async::Task<void> make(TreeBatch& batch, const WriteTree& act) {
  CO_TRY(const frame::FileReply reply, co_await act(batch.cut()));
  co_return done(reply);
}

// Takes one frame; its last word is an answer.
async::Task<std::optional<Received>> take(frame::FromArchive said, TreeBatch& batch,
                                          const WriteTree& act) {
  if (auto* refused = std::get_if<frame::ArchiveRefused>(&said)) {
    co_return std::optional<Received>{std::move(*refused)};
  }
  if (const auto* end = std::get_if<frame::ArchiveEnd>(&said)) {
    batch.end();
    while (!batch.is_empty()) CO_TRY_DO(co_await make(batch, act));
    co_return std::optional<Received>{*end};
  }
  if (auto* entry = std::get_if<frame::ArchiveEntry>(&said)) {
    batch.take(std::move(*entry));
  } else {
    CO_TRY_DO(batch.take(std::get<frame::ArchiveData>(said)));
  }
  if (batch.is_full()) CO_TRY_DO(co_await make(batch, act));
  co_return std::optional<Received>{};
}

}  // namespace

async::Task<Received> receive_tree(ArchiveWorker& worker, WriteTree act) {
  frame::FrameCutter cutter{frame::kLongestArchiveFrame};
  TreeBatch batch;
  std::vector<char> room(kPart);
  for (;;) {
    CO_TRY(const auto body, cutter.next());
    if (body) {
      CO_TRY(frame::FromArchive said, frame::decode_from_archive(*body));
      CO_TRY(auto last, co_await take(std::move(said), batch, act));
      if (last) co_return *std::move(last);
      continue;
    }
    CO_TRY(const std::size_t count, co_await worker.read_some(room));
    if (count == 0) {
      CO_TRY_DO(co_await worker.ended());
      co_return Error{Errc::unavailable, "cordon-unpack ended without a last word"};
    }
    cutter.push(std::as_bytes(std::span{room}.first(count)));
  }
}

async::Task<void> TreeSource::ask() {
  CO_TRY(part_, co_await act_({.after = after_}));
  co_return done(part_);
}

// Many small entries go over in one write.
async::Task<void> TreeSource::put(ArchiveWorker& worker, frame::ToArchive told) {
  const bool is_last = std::holds_alternative<frame::ArchiveEnd>(told);
  framed_ += as_text(encode(told));
  if (framed_.size() < kPart && !is_last) co_return Status{};
  const std::string whole = std::exchange(framed_, {});
  co_return co_await worker.write(whole);
}

async::Task<void> TreeSource::begin() { return ask(); }

Status TreeSource::count(std::uint64_t size) {
  if (++counts_.entries > most_.entries) {
    return Error{
        Errc::exhausted,
        fmt::format("transfers.entries: the tree has more than {} entries", most_.entries)};
  }
  if (size > most_.bytes - counts_.bytes) {
    return Error{Errc::exhausted,
                 fmt::format("transfers.bytes: the tree has more than {} bytes", most_.bytes)};
  }
  counts_.bytes += size;
  return {};
}

// A file that has become shorter ends in zeros; what it has grown by is left out.
async::Task<void> TreeSource::send_file(ArchiveWorker& worker, const std::string& name,
                                        std::uint64_t size, std::string_view bytes) {
  std::string more;
  for (std::uint64_t offset = 0; offset < size;) {
    if (bytes.empty()) {
      CO_TRY(frame::FileReply rest, co_await act_({.after = name, .offset = offset}));
      CO_TRY_DO(done(rest));
      if (rest.bytes.empty()) break;
      more = std::move(rest.bytes);
      bytes = more;
    }
    const std::size_t most = std::min<std::uint64_t>(size - offset, frame::kMostArchiveData);
    const std::string_view piece = bytes.substr(0, most);
    CO_TRY_DO(
        co_await put(worker, frame::ArchiveData{.offset = offset, .bytes = std::string{piece}}));
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
  co_return Status{};
}

async::Task<void> TreeSource::send_part(ArchiveWorker& worker) {
  std::string_view bytes{part_.bytes};
  for (frame::FileEntry& entry : part_.entries) {
    const bool is_file = entry.type == frame::FileType::file;
    const std::uint64_t size = is_file ? entry.size : 0;
    after_ = entry.name;
    if (entry.type == frame::FileType::other) continue;
    CO_TRY_DO(count(size));
    frame::ArchiveEntry told{.path = entry.name,
                             .type = frame::ArchiveType::file,
                             .mode = entry.mode & 0777U,
                             .size = size,
                             .modified = entry.modified};
    if (entry.type == frame::FileType::directory) told.type = frame::ArchiveType::directory;
    if (entry.type == frame::FileType::link) {
      told.type = frame::ArchiveType::link;
      told.target = entry.target;
    }
    CO_TRY_DO(co_await put(worker, std::move(told)));
    const std::string_view own = bytes.substr(0, std::min<std::uint64_t>(size, bytes.size()));
    bytes.remove_prefix(own.size());
    CO_TRY_DO(co_await send_file(worker, entry.name, size, own));
  }
  co_return Status{};
}

async::Task<void> TreeSource::send(ArchiveWorker& worker) {
  for (;;) {
    CO_TRY_DO(co_await send_part(worker));
    if (!part_.more) break;
    // Who says `more` and tells nothing would be asked for ever.
    if (part_.entries.empty()) co_return Error{Errc::unavailable, "the tree has no end"};
    CO_TRY_DO(co_await ask());
  }
  CO_TRY_DO(
      co_await put(worker, frame::ArchiveEnd{.entries = counts_.entries, .bytes = counts_.bytes}));
  worker.end_input();
  co_return Status{};
}

}  // namespace cordon::node
