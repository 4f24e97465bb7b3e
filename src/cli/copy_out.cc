// SPDX-License-Identifier: Apache-2.0
// cordon cp: from a sandbox to here. Everything that comes is a stranger's.
#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <boost/asio/this_coro.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "async/scope.h"
#include "base/id.h"
#include "cli/copy.h"
#include "cli/node_stream.h"
#include "cli/node_words.h"
#include "cli/standard_stream.h"
#include "guest/tree_write.h"
#include "node/tree_transfer.h"
#include "node/unpack_program.h"
#include "os/file.h"
#include "os/random.h"
#include "policy/text.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

// Whoever shares this machine shall not write what a sandbox has made.
constexpr std::uint32_t kModeBits = 0755;
constexpr std::uint64_t kMostEntries = 1'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30U;

std::string tree_path(const CopyOrder& order, const std::string& path) {
  return fmt::format("/v1/sandboxes/{}/tree?path={}", order.from.sandbox, escaped_for_query(path));
}

// An answer through cordon-unpack into a directory.
class TreeDownload {
 public:
  TreeDownload(const CopyOrder& order, std::string to, node::ArchiveWorker worker)
      : order_{order}, to_{std::move(to)}, worker_{std::move(worker)} {}

  async::Task<CopyOutcome> run(std::string from) {
    from_ = std::move(from);
    co_return co_await async::in_scope(
        [](async::Scope& scope, TreeDownload* self) -> async::Task<CopyOutcome> {
          scope.spawn(self->fetch());
          auto made = co_await node::receive_tree(
              self->worker_, [self](frame::WriteTree tree) { return self->make(std::move(tree)); });
          scope.cancel();
          co_return self->outcome(std::move(made));
        },
        this);
  }

 private:
  asio::awaitable<void> fetch() {
    fetched_ = co_await take_pieces(
        order_.node, tree_path(order_, from_),
        [this](std::string_view piece) { return give(piece); }, refusal_);
    worker_.end_input();
  }

  async::Task<void> give(std::string_view piece) {
    order_.moved(piece.size());
    auto given = co_await worker_.write(piece);
    has_heard_enough_ = !given;
    co_return given;
  }

  async::Task<frame::FileReply> make(frame::WriteTree tree) {
    tree.path = to_;
    std::erase_if(tree.pieces, [&](const frame::TreePiece& piece) {
      const bool leads_out = piece.entry.type == frame::ArchiveType::link &&
                             !stays_inside(piece.entry.path, piece.entry.target);
      if (leads_out) copied_.left_out.push_back(piece.entry.path);
      return leads_out;
    });
    for (frame::TreePiece& piece : tree.pieces) piece.entry.mode &= kModeBits;
    co_return guest::write_tree(tree);
  }

  // What broke first is the reason, and a stream that breaks off is no archive.
  Result<CopyOutcome> outcome(Result<node::Received> made) {
    if (refusal_.status != 0) return CopyOutcome{std::move(refusal_)};
    if (!made) return std::move(made).error();
    // An archive may seem whole where it broke off between two entries.
    if (fetched_ && !*fetched_ && !has_heard_enough_) return fetched_->error();
    if (const auto* refused = std::get_if<frame::ArchiveRefused>(&*made)) {
      return Error{Errc::denied, fmt::format("the tree is refused at the entry {}: {}: {}",
                                             policy::in_quotes(refused->entry), refused->code,
                                             policy::printable(refused->text))};
    }
    const auto& end = std::get<frame::ArchiveEnd>(*made);
    copied_.entries = end.entries - copied_.left_out.size();
    copied_.bytes = end.bytes;
    return CopyOutcome{std::move(copied_)};
  }

  const CopyOrder& order_;
  std::string to_;
  std::string from_;
  node::ArchiveWorker worker_;
  NodeAnswer refusal_;
  std::optional<Status> fetched_;
  bool has_heard_enough_ = false;  // the worker: it has said its last word
  Copied copied_;
};

async::Task<CopyOutcome> fetch_directory(const CopyOrder& order, const std::string& from,
                                         const fs::path& to) {
  node::Archives archives{
      co_await asio::this_coro::executor,
      {.program = node::unpack_program(), .entries = kMostEntries, .bytes = kMostBytes}};
  CO_TRY(node::ArchiveWorker worker, archives.reader());
  TreeDownload download{order, fs::absolute(to).lexically_normal(), std::move(worker)};
  co_return co_await download.run(from);
}

// A file beside the one that it becomes: nobody meets a half of it, and a link there is replaced.
class NewFile {
 public:
  static Result<NewFile> make(const fs::path& to) {
    TRY(const auto random, os::random_bytes<10>());
    NewFile made;
    made.to_ = to;
    made.path_ = to.parent_path() / fmt::format(".cordon-{}", base32(random));
    TRY(made.fd_, os::openat(os::at_cwd(), made.path_.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    return made;
  }
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    std::error_code ignored;
    if (fd_) fs::remove(path_, ignored);
  }

  Status write(std::string_view bytes) { return os::write_all(fd_, bytes); }
  Status keep(std::uint32_t mode) {
    std::error_code error;
    fs::permissions(path_, fs::perms{mode & kModeBits}, error);
    if (!error) fs::rename(path_, to_, error);
    if (error) return Error::from_errno(to_.string(), error.value());
    fd_ = os::Fd{};
    return {};
  }

 private:
  NewFile() = default;
  os::Fd fd_;
  fs::path path_;
  fs::path to_;
};

async::Task<void> put(NewFile& file, std::string_view piece) { co_return file.write(piece); }

async::Task<CopyOutcome> fetch_file(const CopyOrder& order, const std::string& from,
                                    const fs::path& to, std::uint32_t mode) {
  CO_TRY(NewFile file, NewFile::make(fs::absolute(to).lexically_normal()));
  Copied copied{.entries = 1};
  NodeAnswer refusal;
  const BodySink take = [&](std::string_view piece) {
    copied.bytes += piece.size();
    order.moved(piece.size());
    return put(file, piece);
  };
  CO_TRY_DO(co_await take_pieces(
      order.node,
      fmt::format("/v1/sandboxes/{}/files?path={}", order.from.sandbox, escaped_for_query(from)),
      take, refusal));
  if (refusal.status != 0) co_return CopyOutcome{std::move(refusal)};
  CO_TRY_DO(file.keep(mode));
  co_return CopyOutcome{std::move(copied)};
}

async::Task<CopyOutcome> fetch_stream(const CopyOrder& order, const std::string& from) {
  StandardStream out{co_await asio::this_coro::executor, STDOUT_FILENO, os::Ready::write};
  Copied copied;
  NodeAnswer refusal;
  const BodySink take = [&](std::string_view piece) {
    copied.bytes += piece.size();
    order.moved(piece.size());
    return out.write(std::string{piece});
  };
  CO_TRY_DO(co_await take_pieces(order.node, tree_path(order, from), take, refusal));
  if (refusal.status != 0) co_return CopyOutcome{std::move(refusal)};
  co_return CopyOutcome{std::move(copied)};
}

}  // namespace

async::Task<std::string> kind_inside(const Node& node, const std::string& sandbox,
                                     const std::string& path, NodeAnswer& refusal,
                                     std::uint32_t* mode) {
  CO_TRY(NodeAnswer answer,
         co_await ask(node, {.path = fmt::format("/v1/sandboxes/{}/files/stat?path={}&follow=true",
                                                 sandbox, escaped_for_query(path))}));
  const bool is_absent = answer.status == 404 && text_at(answer.json, "detail").starts_with(path);
  if (is_absent) co_return std::string{};
  if (!answer.is_good()) {
    refusal = std::move(answer);
    co_return std::string{};
  }
  const std::string octal = text_at(answer.json, "mode");
  if (mode != nullptr) {
    *mode = 0644;
    std::from_chars(octal.data(), octal.data() + octal.size(), *mode, 8);
  }
  co_return text_at(answer.json, "type");
}

async::Task<CopyOutcome> copy_out(const CopyOrder& order) {
  const CopyPath from = read_copy_path(order.from.path);
  if (order.to.is_stream()) co_return co_await fetch_stream(order, from.path);
  const CopyPath to = read_copy_path(order.to.path);
  NodeAnswer refusal;
  std::uint32_t mode = 0;
  CO_TRY(const std::string there,
         co_await kind_inside(order.node, order.from.sandbox, from.path, refusal, &mode));
  if (refusal.status != 0) co_return CopyOutcome{std::move(refusal)};
  if (there != "file" && there != "directory") {
    co_return Error{Errc::not_found, policy::printable(from.path) +
                                         (there.empty() ? ": there is none in the sandbox"
                                                        : ": is neither file nor directory")};
  }
  std::error_code error;
  const bool goes_below = fs::is_directory(to.path, error) && !from.only_contents;
  const fs::path target = goes_below || (to.is_directory && there == "file")
                              ? fs::path{to.path} / last_name(from.path)
                              : fs::path{to.path};
  if (there == "directory") co_return co_await fetch_directory(order, from.path, target);
  co_return co_await fetch_file(order, from.path, target, mode);
}

}  // namespace cordon::cli
