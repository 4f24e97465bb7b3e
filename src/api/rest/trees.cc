// SPDX-License-Identifier: Apache-2.0
// Whole trees of a sandbox, as archives. What an archive has in it is read by cordon-unpack, and
// what comes of it is done inside, with the rights of the workload: nothing of either is read here.
#include <array>
#include <variant>

#include <fmt/format.h>

#include "api/rest/file_call.h"
#include "api/rest/file_record.h"
#include "api/rest/rest.h"
#include "async/scope.h"
#include "node/tree_transfer.h"
#include "wire/tree_answers.h"

namespace cordon::api {
namespace {

constexpr std::size_t kRoom = std::size_t{64} << 10U;
// Of a body, behind the end of its archive: blocks are filled up, and nobody fills up more.
constexpr std::size_t kMostBehind = std::size_t{1} << 20U;

struct Packing {
  std::string_view name;
  std::string_view type;
};
constexpr std::array kPackings = {Packing{"tar", "application/x-tar"},
                                  Packing{"tar.gz", "application/gzip"},
                                  Packing{"tar.zst", "application/zstd"}};

Result<Packing> packing_of(const Call& call) {
  const auto found = call.query.find("format");
  if (found == call.query.end()) return kPackings.front();
  for (const Packing& packing : kPackings) {
    if (packing.name == found->second) return packing;
  }
  return Error{Errc::invalid, "query: `format` is tar, tar.gz or tar.zst"};
}

wire::ProblemAnswer problem_of(const frame::ArchiveRefused& refused) {
  return {.status = 422,
          .code = "CORDON-API-ARCHIVE",
          .detail = refused.entry.empty()
                        ? fmt::format("the archive is refused: {}: {}", refused.code, refused.text)
                        : fmt::format("the archive is refused at the entry \"{}\": {}: {}",
                                      refused.entry, refused.code, refused.text),
          .remedy = "leave it out and send the archive again; entries before it may be there",
          .problems = {},
          .denials = {},
          .entry = refused.entry,
          .rule = refused.code};
}

// A body on its way through cordon-unpack into a sandbox.
class Upload {
 public:
  Upload(Call& call, FileCall file, node::ArchiveWorker worker, FileRecord& record)
      : call_{call}, file_{std::move(file)}, worker_{std::move(worker)}, record_{record} {}

  async::Task<node::Received> run() {
    auto received = co_await async::in_scope(
        [](async::Scope& scope, Upload* self) -> async::Task<node::Received> {
          scope.spawn(self->pump());
          auto made = co_await node::receive_tree(self->worker_, [self](frame::WriteTree tree) {
            return self->file_.write_tree(std::move(tree));
          });
          // One that was taken is read to the end of its body, for the record.
          if (!made || !std::holds_alternative<frame::ArchiveEnd>(*made)) scope.cancel();
          co_return made;
        },
        this);
    // A body that broke off is no archive that ends early.
    if (broken_) co_return *std::move(broken_);
    co_return received;
  }
  // Whether the end of the body was seen.
  bool has_ended() const noexcept { return has_ended_; }

 private:
  asio::awaitable<void> pump() {
    std::vector<char> room(kRoom);
    bool is_read = true;
    for (std::size_t behind = 0; behind <= kMostBehind;) {
      const auto count = co_await call_.exchange.read_some(room);
      if (!count) broken_ = count.error();
      has_ended_ = count && *count == 0;
      if (!count || has_ended_) break;
      const std::string_view piece{room.data(), *count};
      record_.add(piece);
      // It reads no more where it has said its last word.
      is_read = is_read && co_await worker_.write(piece);
      if (!is_read) behind += piece.size();
    }
    worker_.end_input();
  }

  Call& call_;
  FileCall file_;
  node::ArchiveWorker worker_;
  FileRecord& record_;
  std::optional<Error> broken_;
  bool has_ended_ = false;
};

// A tree on its way out of a sandbox, through cordon-unpack.
class Download {
 public:
  Download(Call& call, node::TreeSource source, node::ArchiveWorker worker, FileRecord& record)
      : call_{call}, source_{std::move(source)}, worker_{std::move(worker)}, record_{record} {}

  async::Task<void> run() {
    co_return co_await async::in_scope(
        [](async::Scope& scope, Download* self) -> async::Task<void> {
          scope.spawn(self->fill());
          auto sent = co_await self->drain();
          scope.cancel();
          co_return sent;
        },
        this);
  }

 private:
  asio::awaitable<void> fill() {
    filled_ = co_await source_.send(worker_);
    worker_.end_input();
  }

  async::Task<void> drain() {
    std::vector<char> room(kRoom);
    for (;;) {
      CO_TRY(const std::size_t count, co_await worker_.read_some(room));
      if (count == 0) break;
      record_.add({room.data(), count});
      CO_TRY_DO(co_await call_.exchange.write({room.data(), count}));
    }
    // Not finished, the answer breaks off: no client takes a part for the whole.
    const auto ended = co_await worker_.ended();
    if (!filled_ || *filled_) co_return ended;
    if (ended) co_return filled_->error();
    co_return Error{filled_->error().code(), filled_->error().text() + "; " + ended.error().text()};
  }

  Call& call_;
  node::TreeSource source_;
  node::ArchiveWorker worker_;
  FileRecord& record_;
  std::optional<Status> filled_;
};

}  // namespace

async::Task<void> Rest::write_tree(Call& call) {
  CO_TRY_DO(only_known(call, {"path"}));
  CO_TRY(auto resident, living(call));
  co_return co_await take_tree(call, std::move(resident));
}

async::Task<void> Rest::read_tree(Call& call) {
  CO_TRY_DO(only_known(call, {"path", "format"}));
  CO_TRY(auto resident, living(call));
  co_return co_await give_tree(call, std::move(resident));
}

async::Task<void> Rest::take_tree(Call& call, std::shared_ptr<node::Resident> resident) {
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  CO_TRY(node::ArchiveWorker worker, parts_.archives.reader());
  FileRecord record{parts_.log,
                    call,
                    resident->facts().id,
                    {.is_tree = true, .is_written = true, .path = file.path()}};
  Upload upload{call, std::move(file), std::move(worker), record};
  CO_TRY(const node::Received received, co_await upload.run());
  if (const auto* refused = std::get_if<frame::ArchiveRefused>(&received)) {
    co_return co_await answer_problem(call, problem_of(*refused));
  }
  CO_TRY_DO(record.conclude(upload.has_ended()));
  CO_TRY_DO(co_await parts_.disk.settled());
  const auto& end = std::get<frame::ArchiveEnd>(received);
  co_return co_await answer_json(call, 200, wire::tree_json(end.entries, end.bytes));
}

async::Task<void> Rest::give_tree(Call& call, std::shared_ptr<node::Resident> resident) {
  CO_TRY(const Packing packing, packing_of(call));
  CO_TRY(FileCall file, FileCall::of(call, *resident));
  const node::ArchiveRules& rules = parts_.archives.rules();
  node::TreeSource source{[&file](frame::ReadTree tree) { return file.read_tree(std::move(tree)); },
                          {.entries = rules.entries, .bytes = rules.bytes}};
  CO_TRY_DO(co_await source.begin());
  CO_TRY(node::ArchiveWorker worker, parts_.archives.writer(std::string{packing.name}));
  CO_TRY_DO(co_await call.exchange.begin(200, download_fields(call, packing.type)));
  FileRecord record{parts_.log, call, resident->facts().id, {.is_tree = true, .path = file.path()}};
  Download download{call, std::move(source), std::move(worker), record};
  CO_TRY_DO(co_await download.run());
  CO_TRY_DO(record.conclude());
  CO_TRY_DO(co_await parts_.disk.settled());
  co_return co_await call.exchange.finish();
}

}  // namespace cordon::api
