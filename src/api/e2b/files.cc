// SPDX-License-Identifier: Apache-2.0
// Whole files of a sandbox, read and written: all of it is done inside, with the workload's rights.
#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "api/e2b/face.h"
#include "api/e2b/inner_path.h"
#include "api/e2b/multipart.h"
#include "api/rest/file_record.h"
#include "http/gunzip.h"

namespace cordon::api::e2b {
namespace {

// A file that grows as its bytes come.
class Writing {
 public:
  Writing(FileCall file, audit::Log& log, const Call& call, const SandboxId& sandbox)
      : file_{std::move(file)},
        record_{log, call, sandbox, {.is_written = true, .path = file_.path()}} {}

  async::Task<void> add(std::string_view bytes) {
    held_ += bytes;
    while (held_.size() >= frame::kMostFileBytes) {
      CO_TRY_DO(co_await put(held_.substr(0, frame::kMostFileBytes)));
      held_.erase(0, frame::kMostFileBytes);
    }
    co_return Status{};
  }
  async::Task<void> conclude() {
    if (!held_.empty() || request_.count != 0) CO_TRY_DO(co_await put(std::move(held_)));
    co_return record_.conclude();
  }
  const std::string& path() const { return file_.path(); }

 private:
  async::Task<void> put(std::string bytes) {
    request_.bytes = std::move(bytes);
    record_.add(request_.bytes);
    const std::size_t size = request_.bytes.size();
    CO_TRY_DO(co_await file_.ask(request_));
    request_.offset += size;
    request_.count = 0;
    request_.parents = false;
    co_return Status{};
  }

  FileCall file_;
  FileRecord record_;
  frame::FileRequest request_{.act = frame::FileAct::write, .count = 1, .parents = true};
  std::string held_;
};

// The files of a form, each written as it comes.
class FormFiles {
 public:
  FormFiles(Call& call, node::Resident& resident, audit::Log& log)
      : call_{call}, resident_{resident}, log_{log} {
    const auto named = call.query.find("path");
    if (named != call.query.end()) only_path_ = named->second;
  }

  async::Task<void> take(const Multipart::Event& event) {
    if (const auto* part = std::get_if<Multipart::Part>(&event)) {
      if (part->name == "file") co_return begin(*part);
    } else if (writing_) {
      if (const auto* data = std::get_if<Multipart::Data>(&event)) {
        co_return co_await writing_->add(data->bytes);
      }
      CO_TRY_DO(co_await writing_->conclude());
      writing_.reset();
    }
    co_return Status{};
  }
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  Status begin(const Multipart::Part& part) {
    TRY(std::string path, inner_path(only_path_ ? *only_path_ : part.file_name.value_or("")));
    if (std::ranges::find(paths_, path) != paths_.end()) {
      return Error{Errc::invalid, fmt::format("'{}' stands there twice", path)};
    }
    call_.query.insert_or_assign("path", path);
    TRY(FileCall file, FileCall::of(call_, resident_));
    writing_.emplace(std::move(file), log_, call_, resident_.facts().id);
    paths_.push_back(std::move(path));
    return {};
  }

  Call& call_;
  node::Resident& resident_;
  audit::Log& log_;
  std::optional<std::string> only_path_;
  std::vector<std::string> paths_;
  std::optional<Writing> writing_;
};

// Whether a body is in gzip's coding; in any other it is refused.
Result<bool> is_gzip(const http::Fields& fields) {
  if (http::count(fields, "Content-Encoding") == 0) return false;
  if (http::only(fields, "Content-Encoding") == "gzip") return true;
  return Error{Errc::invalid, "Content-Encoding: gzip, or none"};
}

// What a few bytes may grow to is bounded by the sandbox's disk.
async::Task<void> add_unpacked(http::Gunzip& gunzip, std::string_view bytes, Writing& writing) {
  gunzip.push(bytes);
  for (;;) {
    CO_TRY(const std::string_view piece, gunzip.next());
    if (piece.empty()) co_return Status{};
    CO_TRY_DO(co_await writing.add(piece));
  }
}

// By what clients know it as.
wire::ProblemAnswer problem_with_file(const Error& error, const std::string& path) {
  wire::ProblemAnswer problem = wire::problem_of(error);
  const std::error_code cause = error.cause();
  if (cause == std::errc::no_space_on_device) problem.status = 507;
  if (cause == std::errc::is_a_directory || cause == std::errc::not_a_directory)
    problem.status = 400;
  if (cause == std::errc::no_such_file_or_directory) {
    problem.status = 404;
    problem.detail = fmt::format("path '{}' does not exist", path);
  }
  problem.remedy.clear();
  return problem;
}

}  // namespace

async::Task<void> Face::read_file(Call& call, Inside inside) {
  const auto named = call.query.find("path");
  CO_TRY(std::string path, inner_path(named == call.query.end() ? "" : named->second));
  call.query.insert_or_assign("path", path);
  CO_TRY(FileCall file, FileCall::of(call, *inside));
  const std::uint64_t most = parts_.archives.rules().bytes;
  auto piece = co_await file.ask({.act = frame::FileAct::read, .count = frame::kMostFileBytes});
  if (!piece) co_return co_await answer_error(call, problem_with_file(piece.error(), path));
  CO_TRY_DO(co_await call.exchange.begin(200, download_fields(call, "application/octet-stream")));
  FileRecord record{parts_.log, call, inside->facts().id, {.path = path}};
  for (std::uint64_t sent = 0; !piece->bytes.empty();) {
    sent += piece->bytes.size();
    if (sent > most) co_return Error{Errc::exhausted, "transfers.bytes: the file is too large"};
    record.add(piece->bytes);
    CO_TRY_DO(co_await call.exchange.write(piece->bytes));
    piece = co_await file.ask(
        {.act = frame::FileAct::read, .offset = sent, .count = frame::kMostFileBytes});
    if (!piece) co_return piece.error();
  }
  CO_TRY_DO(record.conclude());
  CO_TRY_DO(co_await parts_.disk.settled());
  co_return co_await call.exchange.finish();
}

async::Task<void> Face::write_files(Call& call, Inside inside) {
  const auto type = http::only(call.exchange.head().fields, "Content-Type");
  const bool is_form = type && type->starts_with("multipart/");
  const Status written =
      is_form ? co_await write_form(call, inside) : co_await write_plain(call, inside);
  if (written || call.exchange.is_answered() || call.exchange.has_faulty_body()) co_return written;
  const auto named = call.query.find("path");
  co_return co_await answer_error(
      call, problem_with_file(written.error(), named == call.query.end() ? "" : named->second));
}

async::Task<void> Face::write_plain(Call& call, Inside inside) {
  CO_TRY(const bool is_packed, is_gzip(call.exchange.head().fields));
  const auto named = call.query.find("path");
  if (named == call.query.end()) co_return Error{Errc::invalid, "query: `path` is missing"};
  CO_TRY(std::string path, inner_path(named->second));
  call.query.insert_or_assign("path", path);
  CO_TRY(FileCall file, FileCall::of(call, *inside));
  Writing writing{std::move(file), parts_.log, call, inside->facts().id};
  std::optional<http::Gunzip> gunzip;
  if (is_packed) gunzip.emplace();
  std::vector<char> room(frame::kMostFileBytes);
  for (;;) {
    CO_TRY(const std::size_t count, co_await call.exchange.read_some(room));
    if (count == 0) break;
    const std::string_view bytes{room.data(), count};
    CO_TRY_DO(gunzip ? co_await add_unpacked(*gunzip, bytes, writing)
                     : co_await writing.add(bytes));
  }
  if (gunzip && !gunzip->is_whole()) co_return Error{Errc::invalid, "gzip: the body breaks off"};
  CO_TRY_DO(co_await writing.conclude());
  CO_TRY_DO(co_await parts_.disk.settled());
  co_return co_await answer_json(call, 200, written_json({path}));
}

async::Task<void> Face::write_form(Call& call, Inside inside) {
  const auto type = http::only(call.exchange.head().fields, "Content-Type");
  CO_TRY(Multipart form, Multipart::of_type(type.value_or("")));
  FormFiles files{call, *inside, parts_.log};
  std::vector<char> room(frame::kMostFileBytes);
  while (!form.is_over()) {
    CO_TRY(const auto event, form.next());
    if (event) {
      CO_TRY_DO(co_await files.take(*event));
    } else if (!form.is_over()) {
      CO_TRY(const std::size_t count, co_await call.exchange.read_some(room));
      if (count == 0) co_return Error{Errc::invalid, "the form breaks off"};
      form.push({room.data(), count});
    }
  }
  if (files.paths().empty()) co_return Error{Errc::invalid, "the form has no part named `file`"};
  CO_TRY_DO(co_await parts_.disk.settled());
  co_return co_await answer_json(call, 200, written_json(files.paths()));
}

}  // namespace cordon::api::e2b
