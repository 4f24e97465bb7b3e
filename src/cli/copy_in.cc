// SPDX-License-Identifier: Apache-2.0
// cordon cp: from here into a sandbox.
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <boost/asio/this_coro.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "async/scope.h"
#include "cli/copy.h"
#include "cli/node_stream.h"
#include "cli/node_words.h"
#include "cli/standard_stream.h"
#include "guest/tree_read.h"
#include "node/tree_transfer.h"
#include "node/unpack_program.h"
#include "os/file.h"
#include "os/file_status.h"

namespace cordon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{256} << 10U;
// Of our own files nobody has to be protected.
constexpr node::TreeCounts kAll{.entries = UINT64_MAX, .bytes = UINT64_MAX};

CopyOutcome outcome_of(NodeAnswer answer) {
  if (!answer.is_good()) return answer;
  return Copied{.entries = number_at(answer.json, "entries").value_or(1),
                .bytes = number_at(answer.json, "bytes").value_or(0)};
}

async::Task<frame::FileReply> read_here(std::string path, frame::ReadTree tree) {
  tree.path = std::move(path);
  co_return guest::read_tree(tree);
}

NodeRequest put_tree(const CopyOrder& order, const std::string& path) {
  return {.method = "PUT",
          .path = fmt::format("/v1/sandboxes/{}/tree?path={}", order.to.sandbox,
                              escaped_for_query(path))};
}

// Reads what cordon-unpack makes of the entries, while they are told to it.
class TreeUpload {
 public:
  TreeUpload(const CopyOrder& order, node::TreeSource source, node::ArchiveWorker worker)
      : order_{order}, source_{std::move(source)}, worker_{std::move(worker)} {}

  async::Task<NodeAnswer> run(std::string path) {
    path_ = std::move(path);
    co_return co_await async::in_scope(
        [](async::Scope& scope, TreeUpload* self) -> async::Task<NodeAnswer> {
          scope.spawn(self->fill());
          auto answer = co_await send_pieces(self->order_.node, put_tree(self->order_, self->path_),
                                             [self] { return self->next(); });
          scope.cancel();
          co_return answer;
        },
        this);
  }

 private:
  asio::awaitable<void> fill() {
    filled_ = co_await source_.send(worker_);
    worker_.end_input();
  }
  async::Task<std::string> next() {
    std::string piece(kPiece, '\0');
    CO_TRY(const std::size_t count, co_await worker_.read_some(piece));
    piece.resize(count);
    order_.moved(count);
    if (count > 0) co_return piece;
    // What could not be read here must not look like a whole archive there.
    const auto ended = co_await worker_.ended();
    if (filled_ && !*filled_) co_return filled_->error();
    if (!ended) co_return ended.error();
    co_return piece;
  }

  const CopyOrder& order_;
  node::TreeSource source_;
  node::ArchiveWorker worker_;
  std::string path_;
  std::optional<Status> filled_;
};

async::Task<CopyOutcome> send_directory(const CopyOrder& order, const fs::path& from,
                                        std::string to) {
  node::Archives archives{co_await asio::this_coro::executor, {.program = node::unpack_program()}};
  const std::string path = fs::absolute(from).lexically_normal();
  node::TreeSource source{[path](frame::ReadTree tree) { return read_here(path, std::move(tree)); },
                          kAll};
  CO_TRY_DO(co_await source.begin());
  CO_TRY(node::ArchiveWorker worker, archives.writer("tar"));
  TreeUpload upload{order, std::move(source), std::move(worker)};
  CO_TRY(NodeAnswer answer, co_await upload.run(std::move(to)));
  co_return outcome_of(std::move(answer));
}

// What `fd` gives next; it is no file that is waited for.
async::Task<std::string> next_of(const os::Fd& fd) {
  std::string piece(kPiece, '\0');
  ssize_t count = 0;
  do {
    count = ::read(fd.get(), piece.data(), piece.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) co_return Error::from_errno("read");
  piece.resize(static_cast<std::size_t>(count));
  co_return piece;
}

// Standard input is shared with whoever started us: it is read as it comes.
async::Task<std::string> next_of(StandardStream& in) {
  if (!co_await in.ready()) co_return std::string{};
  std::string piece(kPiece, '\0');
  CO_TRY(const std::size_t count, os::read_when_ready(in.number(), piece));
  piece.resize(count);
  co_return piece;
}

async::Task<std::string> counted(async::Task<std::string> next, const CopyOrder& order,
                                 std::uint64_t& bytes) {
  auto piece = co_await std::move(next);
  if (!piece) co_return piece;
  bytes += piece->size();
  order.moved(piece->size());
  co_return piece;
}

async::Task<CopyOutcome> send_file(const CopyOrder& order, const fs::path& from,
                                   const std::string& to) {
  CO_TRY(const os::Fd file, os::openat(os::at_cwd(), from.c_str(), O_RDONLY | O_NONBLOCK));
  CO_TRY(const os::FileStatus status, os::statx(file));
  if (status.type != os::FileType::regular) {
    co_return Error{Errc::invalid, from.string() + ": neither a file nor a directory"};
  }
  std::uint64_t bytes = 0;
  const BodySource source = [&] { return counted(next_of(file), order, bytes); };
  NodeRequest request{
      .method = "PUT",
      .path = fmt::format("/v1/sandboxes/{}/files?path={}&parents=true&mode={:o}", order.to.sandbox,
                          escaped_for_query(to), status.mode & 0777U)};
  CO_TRY(NodeAnswer answer, co_await send_pieces(order.node, std::move(request), source));
  if (!answer.is_good()) co_return CopyOutcome{std::move(answer)};
  co_return CopyOutcome{Copied{.entries = 1, .bytes = bytes}};
}

async::Task<CopyOutcome> send_stream(const CopyOrder& order, const std::string& to) {
  StandardStream in{co_await asio::this_coro::executor, STDIN_FILENO, os::Ready::read};
  std::uint64_t bytes = 0;
  const BodySource source = [&] { return counted(next_of(in), order, bytes); };
  CO_TRY(NodeAnswer answer, co_await send_pieces(order.node, put_tree(order, to), source));
  co_return outcome_of(std::move(answer));
}

std::string below(const std::string& directory, const std::string& name) {
  if (name.empty()) return directory;
  return directory.ends_with('/') ? directory + name : directory + '/' + name;
}

}  // namespace

async::Task<CopyOutcome> copy_in(const CopyOrder& order) {
  const CopyPath to = read_copy_path(order.to.path);
  if (order.from.is_stream()) co_return co_await send_stream(order, to.path);
  const CopyPath from = read_copy_path(order.from.path);
  std::error_code error;
  const fs::file_status here = fs::status(from.path, error);
  if (!fs::exists(here)) {
    co_return Error{Errc::not_found, from.path + ": there is no such file or directory"};
  }
  NodeAnswer refusal;
  CO_TRY(const std::string there,
         co_await kind_inside(order.node, order.to.sandbox, to.path, refusal));
  if (refusal.status != 0) co_return CopyOutcome{std::move(refusal)};
  const std::string name = last_name(fs::absolute(from.path).lexically_normal().string());
  const bool goes_below = there == "directory" && !from.only_contents;
  const std::string target =
      goes_below || to.is_directory ? below(to.path, name) : std::string{to.path};
  if (fs::is_directory(here)) {
    co_return co_await send_directory(order, from.path, goes_below ? target : to.path);
  }
  if (from.is_directory || from.only_contents) {
    co_return Error{Errc::invalid, from.path + ": is no directory"};
  }
  co_return co_await send_file(order, from.path, target);
}

}  // namespace cordon::cli
