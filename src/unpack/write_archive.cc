// SPDX-License-Identifier: Apache-2.0
#include "unpack/write_archive.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "unpack/names.h"

namespace cordon::unpack {
namespace {

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

constexpr int kBlock = 64 << 10;

class Writer {
 public:
  Writer(const Bytes& bytes, const Limits& limits) : bytes_{bytes}, names_{limits} {}

  Status open(Packing packing);
  Status take(frame::ArchiveEntry entry);
  Status take(const frame::ArchiveData& data);
  Status take(const frame::ArchiveEnd& end);
  bool ended() const noexcept { return ended_; }

 private:
  static la_ssize_t put(archive* to, void* self, const void* bytes, std::size_t size);
  Status done(la_ssize_t result) const;
  Status write(std::span<const std::byte> bytes);

  const Bytes& bytes_;
  Names names_;
  Archive archive_{nullptr, &archive_write_free};
  std::optional<Error> outside_;
  std::uint64_t left_ = 0;  // of the file at hand
  std::uint64_t at_ = 0;
  bool ended_ = false;
};

la_ssize_t Writer::put(archive* to, void* self, const void* bytes, std::size_t size) {
  auto& writer = *static_cast<Writer*>(self);
  const Status taken = writer.bytes_({static_cast<const std::byte*>(bytes), size});
  if (taken) return static_cast<la_ssize_t>(size);
  writer.outside_ = taken.error();
  archive_set_error(to, EIO, "nobody reads");
  return -1;
}

Status Writer::done(la_ssize_t result) const {
  if (result >= ARCHIVE_OK) return {};
  if (outside_) return *outside_;
  const char* const why = archive_error_string(archive_.get());
  return refusal("malformed", why != nullptr ? why : "it cannot be written");
}

Status Writer::open(Packing packing) {
  archive_.reset(archive_write_new());
  archive* const to = archive_.get();
  if (to == nullptr) return refusal("malformed", "no memory");
  // Of all formats the one that carries any name, byte by byte, and that every tar reads.
  TRY_DO(done(archive_write_set_format_gnutar(to)));
  if (packing == Packing::gzip) TRY_DO(done(archive_write_add_filter_gzip(to)));
  if (packing == Packing::zstd) TRY_DO(done(archive_write_add_filter_zstd(to)));
  TRY_DO(done(archive_write_set_bytes_per_block(to, kBlock)));
  TRY_DO(done(archive_write_set_bytes_in_last_block(to, 1)));
  return done(archive_write_open(to, this, nullptr, &Writer::put, nullptr));
}

Status Writer::take(frame::ArchiveEntry entry) {
  TRY_DO(names_.admit(entry));
  const Entry made{archive_entry_new(), &archive_entry_free};
  archive_entry* const to = made.get();
  if (to == nullptr) return refusal("malformed", "no memory");
  archive_entry_set_pathname(to, entry.path.c_str());
  archive_entry_set_perm(to, static_cast<__LA_MODE_T>(entry.mode & 0777U));
  archive_entry_set_mtime(to, static_cast<time_t>(entry.modified / 1'000'000'000U),
                          static_cast<long>(entry.modified % 1'000'000'000U));
  archive_entry_set_size(to, 0);
  left_ = at_ = 0;
  switch (entry.type) {
    case frame::ArchiveType::file:
      archive_entry_set_filetype(to, AE_IFREG);
      archive_entry_set_size(to, static_cast<la_int64_t>(entry.size));
      left_ = entry.size;
      break;
    case frame::ArchiveType::directory:
      archive_entry_set_filetype(to, AE_IFDIR);
      break;
    case frame::ArchiveType::link:
      archive_entry_set_filetype(to, AE_IFLNK);
      archive_entry_set_symlink(to, entry.target.c_str());
      break;
    case frame::ArchiveType::hard_link:
      archive_entry_set_filetype(to, AE_IFREG);
      archive_entry_set_hardlink(to, entry.target.c_str());
      break;
  }
  return done(archive_write_header(archive_.get(), to));
}

Status Writer::write(std::span<const std::byte> bytes) {
  if (bytes.size() > left_) return refusal("malformed", "more bytes of a file than its size");
  while (!bytes.empty()) {
    const la_ssize_t count = archive_write_data(archive_.get(), bytes.data(), bytes.size());
    TRY_DO(done(count));
    if (count == 0) return refusal("malformed", "it takes no more");
    const auto written = static_cast<std::size_t>(count);
    bytes = bytes.subspan(written);
    at_ += written;
    left_ -= written;
  }
  return {};
}

// What is left of a file at its end is zeros by itself.
Status Writer::take(const frame::ArchiveData& data) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  if (data.offset < at_) return refusal("malformed", "bytes that were written already");
  if (data.offset - at_ > left_) return refusal("malformed", "more bytes of a file than its size");
  while (at_ < data.offset) {
    const std::uint64_t gap = std::min<std::uint64_t>(data.offset - at_, kZeros.size());
    TRY_DO(write(std::span{kZeros}.first(static_cast<std::size_t>(gap))));
  }
  return write(std::as_bytes(std::span{data.bytes}));
}

Status Writer::take(const frame::ArchiveEnd&) {
  ended_ = true;
  return done(archive_write_close(archive_.get()));
}

}  // namespace

std::optional<Packing> packing_from_string(std::string_view name) {
  if (name == "tar") return Packing::none;
  if (name == "tar.gz") return Packing::gzip;
  if (name == "tar.zst") return Packing::zstd;
  return std::nullopt;
}

Status write_archive(const Frames& frames, const Bytes& bytes, Packing packing,
                     const Limits& limits) {
  Writer writer{bytes, limits};
  TRY_DO(writer.open(packing));
  while (!writer.ended()) {
    TRY(frame::ToArchive frame, frames());
    TRY_DO(std::visit([&](auto& each) { return writer.take(std::move(each)); }, frame));
  }
  return {};
}

}  // namespace cordon::unpack
