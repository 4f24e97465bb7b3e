// SPDX-License-Identifier: Apache-2.0
#include "node/template_files.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "async/scope.h"
#include "node/tree_transfer.h"
#include "os/file.h"

namespace cordon::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRoom = std::size_t{64} << 10U;
constexpr std::chrono::hours kKeptFor{24};

// On its way; whoever does not keep it leaves nothing.
class PartFile {
 public:
  static Result<PartFile> make(const std::string& path) {
    TRY(os::Fd file,
        os::openat(os::at_cwd(), path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    return PartFile{path, std::move(file)};
  }
  PartFile(PartFile&& other) noexcept
      : path_{std::exchange(other.path_, {})}, file_{std::move(other.file_)} {}
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  Status add(std::string_view bytes) { return os::write_all(file_, bytes); }
  Status keep_as(const std::string& path) {
    std::error_code error;
    fs::rename(path_, path, error);
    if (error) return Error{Errc::unavailable, error.message()}.with("uploads");
    path_.clear();
    return {};
  }

 private:
  PartFile(std::string path, os::Fd file) : path_{std::move(path)}, file_{std::move(file)} {}
  std::string path_;
  os::Fd file_;
};

// An archive on its way through cordon-unpack into a sandbox.
class Unpacking {
 public:
  Unpacking(os::Fd file, ArchiveWorker worker, std::shared_ptr<Resident> resident,
            std::string directory)
      : file_{std::move(file)},
        worker_{std::move(worker)},
        resident_{std::move(resident)},
        directory_{std::move(directory)} {}

  async::Task<Received> run() {
    return async::in_scope(
        [](async::Scope& scope, Unpacking* self) -> async::Task<Received> {
          scope.spawn(self->feed());
          auto made = co_await receive_tree(self->worker_, [self](frame::WriteTree tree) {
            tree.path = self->directory_;
            return self->resident_->sandbox().write_tree(std::move(tree));
          });
          if (!made || !std::holds_alternative<frame::ArchiveEnd>(*made)) scope.cancel();
          co_return made;
        },
        this);
  }

 private:
  asio::awaitable<void> feed() {
    std::vector<char> room(kRoom);
    for (;;) {
      const ssize_t count = ::read(file_.get(), room.data(), room.size());
      if (count <= 0) break;
      if (!co_await worker_.write({room.data(), static_cast<std::size_t>(count)})) break;
    }
    worker_.end_input();
  }

  os::Fd file_;
  ArchiveWorker worker_;
  std::shared_ptr<Resident> resident_;
  std::string directory_;
};

}  // namespace

std::string TemplateFiles::path_of(std::string_view template_id, std::string_view digest) const {
  return fmt::format("{}/{}-{}", directory_, template_id, digest);
}

bool TemplateFiles::has(std::string_view template_id, std::string_view digest) const {
  std::error_code ignored;
  return fs::is_regular_file(path_of(template_id, digest), ignored);
}

Status TemplateFiles::make_room() const {
  std::error_code error;
  fs::create_directories(directory_, error);
  struct Kept {
    fs::path path;
    fs::file_time_type written;
    std::uint64_t size = 0;
  };
  std::vector<Kept> all;
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& each : fs::directory_iterator{directory_, error}) {
    std::error_code ignored;  // it may be gone by now
    const Kept& kept =
        all.emplace_back(Kept{each.path(), each.last_write_time(ignored), each.file_size(ignored)});
    bytes += kept.size;
  }
  if (error) return Error{Errc::unavailable, error.message()}.with(directory_);
  std::ranges::sort(all, {}, &Kept::written);
  std::size_t count = all.size();
  for (const Kept& each : all) {
    const bool is_old = fs::file_time_type::clock::now() - each.written > kKeptFor;
    if (!is_old && count < kMost && bytes <= archives_.rules().bytes) break;
    std::error_code ignored;
    fs::remove(each.path, ignored);
    bytes -= each.size;
    --count;
  }
  return {};
}

async::Task<void> TemplateFiles::take(http::Exchange& exchange, std::string_view template_id,
                                      std::string_view digest) {
  CO_TRY_DO(make_room());
  const std::string path = path_of(template_id, digest);
  CO_TRY(PartFile part, PartFile::make(path + ".part"));
  exchange.allow_slow_body();
  std::vector<char> room(kRoom);
  std::uint64_t taken = 0;
  for (;;) {
    CO_TRY(const std::size_t count, co_await exchange.read_some(room));
    if (count == 0) break;
    taken += count;
    if (taken > archives_.rules().bytes) {
      co_return Error{Errc::exhausted, "transfers.bytes: the files are larger than that together"};
    }
    CO_TRY_DO(part.add({room.data(), count}));
  }
  co_return part.keep_as(path);
}

async::Task<void> TemplateFiles::put_inside(std::shared_ptr<Resident> resident,
                                            std::string_view template_id, std::string_view digest,
                                            std::string directory) {
  const std::string path = path_of(template_id, digest);
  auto file = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_NOFOLLOW);
  if (!file) {
    co_return Error{Errc::not_found,
                    "its files were not sent, or are not kept any more: build "
                    "again with forceUpload"};
  }
  CO_TRY(ArchiveWorker worker, archives_.reader());
  Unpacking unpacking{*std::move(file), std::move(worker), std::move(resident),
                      std::move(directory)};
  CO_TRY(const Received said, co_await unpacking.run());
  if (const auto* refused = std::get_if<frame::ArchiveRefused>(&said)) {
    co_return Error{Errc::invalid, fmt::format("the files that were sent are refused: {}: {}",
                                               refused->code, refused->text)};
  }
  co_return Status{};
}

}  // namespace cordon::node
