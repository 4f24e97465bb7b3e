// SPDX-License-Identifier: Apache-2.0
// Files of a sandbox: read, write, list, look at, make, move, remove. All of it is done inside,
// with the rights of the workload: no process of the host walks a link that a sandbox has made.
#include <algorithm>

#include <fmt/format.h>

#include "api/rest/file_call.h"
#include "api/rest/file_record.h"
#include "api/rest/rest.h"
#include "wire/answers.h"

namespace cordon::api {
namespace {

constexpr std::uint64_t kMostEntries = frame::kMostListed;

std::string_view name_of(frame::FileType type) {
  switch (type) {
    case frame::FileType::file:
      return "file";
    case frame::FileType::directory:
      return "directory";
    case frame::FileType::link:
      return "link";
    case frame::FileType::other:
      break;
  }
  return "other";
}

wire::FileAnswer shown_entry(const frame::FileEntry& entry) {
  return {.name = entry.name,
          .type = std::string{name_of(entry.type)},
          .size = entry.size,
          .mode = entry.mode,
          .modified = entry.modified,
          .target = entry.target};
}

// As much as one act brings, of `left`; nothing: the file has ended.
async::Task<frame::FileReply> read_piece(FileCall& file, std::uint64_t offset, std::uint64_t left) {
  const auto count =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(left, frame::kMostFileBytes));
  return file.ask({.act = frame::FileAct::read, .offset = offset, .count = count});
}

// Whoever is inside chooses how long a file is, and may let it grow while it is read.
Error too_long(std::uint64_t most) {
  return Error{Errc::exhausted,
               fmt::format("transfers.bytes: more than {} bytes in one answer; ask for parts of "
                           "the file with `offset` and `length`",
                           most)};
}

}  // namespace

async::Task<void> Rest::read_file(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "offset", "length"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  CO_TRY(const auto from, number_of(call, "offset"));
  CO_TRY(const auto length, number_of(call, "length"));
  std::uint64_t offset = from.value_or(0);
  std::uint64_t left = length.value_or(UINT64_MAX);
  // What cannot be read is told before an answer has begun.
  const std::uint64_t most = parts_.archives.rules().bytes;
  CO_TRY(frame::FileReply piece, co_await read_piece(file, offset, left));
  const std::uint64_t size = piece.entries.empty() ? 0 : piece.entries.front().size;
  if (std::min(left, size - std::min(size, offset)) > most) co_return too_long(most);
  CO_TRY_DO(co_await call.exchange.begin(200, download_fields(call, "application/octet-stream")));
  FileRecord record{
      parts_.log, call, resident->facts().id, {.path = file.path(), .offset = offset}};
  for (std::uint64_t sent = 0; !piece.bytes.empty();) {
    sent += piece.bytes.size();
    if (sent > most) co_return too_long(most);
    record.add(piece.bytes);
    CO_TRY_DO(co_await call.exchange.write(piece.bytes));
    offset += piece.bytes.size();
    left -= std::min<std::uint64_t>(left, piece.bytes.size());
    if (left == 0) break;
    CO_TRY(piece, co_await read_piece(file, offset, left));
  }
  CO_TRY_DO(record.conclude());
  CO_TRY_DO(co_await parts_.disk.settled());
  co_return co_await call.exchange.finish();
}

async::Task<void> Rest::write_file(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "mode", "parents", "exclusive"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  frame::FileRequest request{.act = frame::FileAct::write, .count = 1};
  CO_TRY(request.mode, mode_of(call));
  CO_TRY(request.parents, flag_of(call, "parents"));
  CO_TRY(request.exclusive, flag_of(call, "exclusive"));
  FileRecord record{
      parts_.log, call, resident->facts().id, {.is_written = true, .path = file.path()}};
  std::vector<char> room(frame::kMostFileBytes);
  for (bool is_first = true;; is_first = false) {
    // A piece as large as one act takes, or the rest.
    std::size_t filled = 0;
    while (filled < room.size()) {
      CO_TRY(const std::size_t count,
             co_await call.exchange.read_some(std::span{room}.subspan(filled)));
      if (count == 0) break;
      filled += count;
    }
    if (filled == 0 && !is_first) break;
    request.bytes.assign(room.data(), filled);
    CO_TRY_DO(co_await file.ask(request));
    record.add(request.bytes);
    request.offset += filled;
    request.count = 0;
    request.parents = request.exclusive = false;
    if (filled < room.size()) break;
  }
  CO_TRY_DO(record.conclude());
  CO_TRY_DO(co_await parts_.disk.settled());
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::remove_file(Call& call) {
  CO_TRY_DO(only_known(call, {"path"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  // A tree goes in parts: each act takes so many entries.
  for (bool more = true; more;) {
    CO_TRY(const frame::FileReply reply, co_await file.ask({.act = frame::FileAct::remove}));
    more = reply.more;
  }
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::list_files(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "after", "limit"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  CO_TRY(const auto limit, number_of(call, "limit"));
  const auto after = call.query.find("after");
  frame::FileRequest request{.act = frame::FileAct::list};
  if (after != call.query.end()) request.bytes = after->second;
  CO_TRY(frame::FileReply reply, co_await file.ask(request));
  const std::size_t most = std::clamp<std::uint64_t>(limit.value_or(kMostEntries), 1, kMostEntries);
  const bool cut = reply.entries.size() > most;
  if (cut) reply.entries.resize(most);
  std::vector<wire::FileAnswer> entries;
  entries.reserve(reply.entries.size());
  for (const frame::FileEntry& entry : reply.entries) entries.push_back(shown_entry(entry));
  co_return co_await answer_json(call, 200, wire::to_json(entries, reply.more || cut));
}

async::Task<void> Rest::stat_file(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "follow"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  frame::FileRequest request{.act = frame::FileAct::stat};
  CO_TRY(request.follow, flag_of(call, "follow"));
  CO_TRY(const frame::FileReply reply, co_await file.ask(request));
  if (reply.entries.empty()) co_return Error{Errc::unavailable, "the sandbox told nothing of it"};
  co_return co_await answer_json(call, 200, wire::to_json(shown_entry(reply.entries.front())));
}

async::Task<void> Rest::make_directory(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "mode", "parents"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  frame::FileRequest request{.act = frame::FileAct::make_directory};
  CO_TRY(request.mode, mode_of(call));
  CO_TRY(request.parents, flag_of(call, "parents"));
  CO_TRY_DO(co_await file.ask(request));
  co_return co_await answer_nothing(call);
}

async::Task<void> Rest::move_file(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "to", "parents", "exclusive"}));
  CO_TRY(const auto resident, living(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  frame::FileRequest request{.act = frame::FileAct::rename};
  CO_TRY(request.bytes, path_of(call, "to"));
  CO_TRY(request.parents, flag_of(call, "parents"));
  CO_TRY(request.exclusive, flag_of(call, "exclusive"));
  CO_TRY_DO(co_await file.ask(request));
  co_return co_await answer_nothing(call);
}

}  // namespace cordon::api
