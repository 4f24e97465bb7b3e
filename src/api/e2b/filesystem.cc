// SPDX-License-Identifier: Apache-2.0
// Files of a sandbox by their names: look at, list, make, move, remove.
#include <cerrno>

#include "api/e2b/face.h"
#include "api/e2b/inner_path.h"
#include "base/utf8.h"

namespace cordon::api::e2b {
namespace {

constexpr std::size_t kFilesystemMessage = std::size_t{1} << 20U;
constexpr std::int64_t kDeepest = 64;
constexpr std::size_t kMostEntries = 100'000;

// The path that a message names, as files.h of API v1 wants it.
Result<FileCall> file_at(const Call& call, node::Resident& resident, std::string path) {
  Call named{.exchange = call.exchange,
             .places = {},
             .query = {{"path", std::move(path)}},
             .authority = call.authority,
             .key = {},
             .tenant = {},
             .id = {}};
  return FileCall::of(named, resident);
}

Result<std::string> path_in(const Message& message, std::string_view name) {
  TRY(const auto path, message.text(name));
  return inner_path(path.value_or(""));
}

async::Task<frame::FileEntry> entry_of(FileCall& file, bool follow) {
  CO_TRY(frame::FileReply reply,
         co_await file.ask({.act = frame::FileAct::stat, .follow = follow}));
  if (reply.entries.empty()) co_return Error{Errc::unavailable, "the sandbox told nothing of it"};
  co_return std::move(reply.entries.front());
}

async::Task<NamedEntry> named_entry(const Call& call, node::Resident& resident, std::string path) {
  CO_TRY(FileCall file, file_at(call, resident, path));
  NamedEntry named{.path = std::move(path), .entry = {}, .pointed = {}};
  CO_TRY(named.entry, co_await entry_of(file, false));
  if (named.entry.type != frame::FileType::link) co_return named;
  // One that leads nowhere is shown as it is.
  if (auto pointed = co_await entry_of(file, true)) named.pointed = *std::move(pointed);
  co_return named;
}

bool is_directory(const NamedEntry& named) {
  const frame::FileEntry& meant = named.pointed ? *named.pointed : named.entry;
  return meant.type == frame::FileType::directory;
}

// What lies in a directory, and below it as deep as wanted; links are not walked.
class Gathering {
 public:
  Gathering(const Call& call, node::Resident& resident) : call_{call}, resident_{resident} {}

  async::Task<void> walk(std::string path, std::int64_t depth) {
    CO_TRY(FileCall file, file_at(call_, resident_, path));
    const std::string above = path == "/" ? "" : path;
    frame::FileRequest request{.act = frame::FileAct::list};
    for (bool more = true; more;) {
      CO_TRY(frame::FileReply reply, co_await file.ask(request));
      more = reply.more && !reply.entries.empty();
      if (more) request.bytes = reply.entries.back().name;
      for (frame::FileEntry& entry : reply.entries) {
        // What is no text has no name that a client could send back.
        if (!is_utf8(entry.name)) continue;
        std::string name = above + "/" + entry.name;
        CO_TRY_DO(co_await add(std::move(name), std::move(entry), depth));
      }
    }
    co_return Status{};
  }
  std::vector<NamedEntry> take() { return std::move(entries_); }

 private:
  async::Task<void> add(std::string path, frame::FileEntry entry, std::int64_t depth) {
    if (entries_.size() >= kMostEntries) {
      co_return Error{Errc::exhausted, "more than 100000 entries; list a part of them"};
    }
    NamedEntry named{.path = path, .entry = std::move(entry), .pointed = {}};
    if (named.entry.type == frame::FileType::link) {
      if (auto whole = co_await named_entry(call_, resident_, path)) named = *std::move(whole);
    }
    const bool walks = named.entry.type == frame::FileType::directory && depth > 1;
    entries_.push_back(std::move(named));
    if (!walks) co_return Status{};
    co_return co_await walk(std::move(path), depth - 1);
  }

  const Call& call_;
  node::Resident& resident_;
  std::vector<NamedEntry> entries_;
};

async::Task<Message> message_of(Call& call) {
  CO_TRY(const std::string body, co_await call.exchange.read_body(kFilesystemMessage));
  co_return Message::read(body);
}

}  // namespace

async::Task<std::string> Face::stat(Call& call, Inside inside) {
  CO_TRY(const Message message, co_await message_of(call));
  CO_TRY(std::string path, path_in(message, "path"));
  CO_TRY(const NamedEntry named, co_await named_entry(call, *inside, std::move(path)));
  co_return entry_json(named);
}

async::Task<std::string> Face::make_directory(Call& call, Inside inside) {
  CO_TRY(const Message message, co_await message_of(call));
  CO_TRY(const std::string path, path_in(message, "path"));
  if (const auto there = co_await named_entry(call, *inside, path)) {
    if (is_directory(*there)) co_return Error{Errc::exists, "directory already exists: " + path};
    co_return Error{Errc::invalid, "path already exists but it is not a directory: " + path};
  }
  CO_TRY(FileCall file, file_at(call, *inside, path));
  CO_TRY_DO(co_await file.ask({.act = frame::FileAct::make_directory, .parents = true}));
  CO_TRY(const NamedEntry made, co_await named_entry(call, *inside, path));
  co_return entry_json(made);
}

async::Task<std::string> Face::move(Call& call, Inside inside) {
  CO_TRY(const Message message, co_await message_of(call));
  CO_TRY(std::string from, path_in(message, "source"));
  CO_TRY(const std::string to, path_in(message, "destination"));
  CO_TRY(FileCall file, file_at(call, *inside, std::move(from)));
  CO_TRY_DO(co_await file.ask({.act = frame::FileAct::rename, .bytes = to, .parents = true}));
  CO_TRY(const NamedEntry moved, co_await named_entry(call, *inside, to));
  co_return entry_json(moved);
}

async::Task<std::string> Face::list_directory(Call& call, Inside inside) {
  CO_TRY(const Message message, co_await message_of(call));
  CO_TRY(std::string path, path_in(message, "path"));
  CO_TRY(const auto depth, message.number("depth"));
  CO_TRY(const NamedEntry top, co_await named_entry(call, *inside, path));
  if (!is_directory(top)) co_return Error{Errc::invalid, "path is not a directory: " + path};
  Gathering gathering{call, *inside};
  const std::int64_t levels = std::clamp<std::int64_t>(depth.value_or(1), 1, kDeepest);
  CO_TRY_DO(co_await gathering.walk(std::move(path), levels));
  co_return entries_json(gathering.take());
}

async::Task<std::string> Face::remove(Call& call, Inside inside) {
  CO_TRY(const Message message, co_await message_of(call));
  CO_TRY(std::string path, path_in(message, "path"));
  CO_TRY(FileCall file, file_at(call, *inside, std::move(path)));
  for (bool more = true; more;) {
    const auto reply = co_await file.ask({.act = frame::FileAct::remove});
    if (!reply && reply.error().code() == Errc::not_found) break;
    if (!reply) co_return reply.error();
    more = reply->more;
  }
  co_return std::string{"{}"};
}

}  // namespace cordon::api::e2b
