// SPDX-License-Identifier: Apache-2.0
#include "unpack/read_archive.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "unpack/names.h"

namespace cordon::unpack {
namespace {

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

// Links that carry a mode of their own, sticky bits and set-id bits: nobody needs them.
constexpr std::uint32_t kModeBits = 0777;
constexpr std::uint32_t kSticky = 01000;  // of a directory that many write to

// What no image needs: /dev is a sandbox's own.
bool is_no_file(archive_entry* found) {
  const auto type = archive_entry_filetype(found);
  return type == AE_IFCHR || type == AE_IFBLK || type == AE_IFIFO || type == AE_IFSOCK;
}

// Beyond it an id means nobody's, and no sandbox has such.
std::uint32_t id_of(la_int64_t id) {
  constexpr la_int64_t kNobody = 65534;
  return static_cast<std::uint32_t>(id >= 0 && id <= kNobody ? id : kNobody);
}

// A name as bytes, whichever way the archive has it.
std::string text_of(const char* bytes, const char* utf8) {
  if (bytes != nullptr) return bytes;
  return utf8 != nullptr ? utf8 : "";
}

class Reader {
 public:
  Reader(const Source& source, const Sink& sink, const Limits& limits)
      : source_{source}, sink_{sink}, limits_{limits}, names_{limits} {}

  Status run();
  // What went wrong outside of the archive.
  std::optional<Error> outside() { return std::move(outside_); }
  // The name of the entry at hand, as the archive has it.
  const std::string& at() const { return at_; }
  frame::ArchiveEnd counted() const {
    return {.entries = entries_, .bytes = bytes_, .left_out = left_out_};
  }

 private:
  static la_ssize_t more(archive* from, void* self, const void** bytes);
  Status take_entry(archive_entry* found);
  Status take_data(const frame::ArchiveEntry& entry);
  Result<frame::ArchiveEntry> describe(archive_entry* found) const;
  Status check_ratio() const;
  Error malformed() const;
  Status put(const frame::FromArchive& frame);

  const Source& source_;
  const Sink& sink_;
  Limits limits_;
  Names names_;
  Archive archive_{nullptr, &archive_read_free};
  std::array<std::byte, std::size_t{64} << 10U> buffer_{};
  std::string at_;
  std::optional<Error> outside_;
  std::optional<Error> dense_;  // found while libarchive asked for more
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;     // of data
  std::uint64_t declared_ = 0;  // of sizes
  std::uint64_t left_out_ = 0;
};

la_ssize_t Reader::more(archive* from, void* self, const void** bytes) {
  auto& reader = *static_cast<Reader*>(self);
  // Also where a filter reads on without giving anything out.
  if (const Status dense = reader.check_ratio(); !dense) {
    reader.dense_ = dense.error();
    archive_set_error(from, EIO, "too dense");
    return -1;
  }
  const auto count = reader.source_(reader.buffer_);
  if (!count) {
    reader.outside_ = count.error();
    archive_set_error(from, EIO, "the source failed");
    return -1;
  }
  *bytes = reader.buffer_.data();
  return static_cast<la_ssize_t>(*count);
}

Status Reader::put(const frame::FromArchive& frame) {
  Status taken = sink_(frame);
  if (!taken) outside_ = taken.error();
  return taken;
}

// What came out of each filter for what went into it.
Status Reader::check_ratio() const {
  const auto in =
      static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_.get(), -1), 1));
  const auto out =
      static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_.get(), 0), 0));
  const std::uint64_t all = std::max(out, bytes_);
  if (all > limits_.free_bytes && all / limits_.ratio > in) {
    return refusal("too_dense", "more comes out than such an archive can hold");
  }
  return {};
}

Error Reader::malformed() const {
  if (dense_) return *dense_;
  const char* const why = archive_error_string(archive_.get());
  return refusal("malformed", why != nullptr ? why : "it cannot be read");
}

Status Reader::run() {
  archive_.reset(archive_read_new());
  archive* const from = archive_.get();
  if (from == nullptr) return refusal("malformed", "no memory");
  // These and no others: some would start programs.
  archive_read_support_filter_gzip(from);
  archive_read_support_filter_zstd(from);
  archive_read_support_format_tar(from);
  archive_read_support_format_zip_streamable(from);
  if (archive_read_open(from, this, nullptr, &Reader::more, nullptr) != ARCHIVE_OK) {
    return malformed();
  }
  if (archive_filter_count(from) > 2) return refusal("malformed", "compressed more than once");
  while (true) {
    archive_entry* found = nullptr;
    at_.clear();
    const int got = archive_read_next_header(from, &found);
    if (got == ARCHIVE_EOF) return {};
    if (got != ARCHIVE_OK) return malformed();  // also what it only warns of
    TRY_DO(take_entry(found));
  }
}

Result<frame::ArchiveEntry> Reader::describe(archive_entry* found) const {
  frame::ArchiveEntry entry{
      .path = at_, .mode = static_cast<std::uint32_t>(archive_entry_perm(found)) & kModeBits};
  const la_int64_t seconds = archive_entry_mtime(found);
  constexpr la_int64_t kLast = std::numeric_limits<std::int64_t>::max() / 1'000'000'000 - 1;
  entry.modified =
      static_cast<std::uint64_t>(std::clamp<la_int64_t>(seconds, 0, kLast)) * 1'000'000'000U +
      static_cast<std::uint64_t>(std::clamp(archive_entry_mtime_nsec(found), 0L, 999'999'999L));
  if (limits_.of_an_image) {
    entry.uid = id_of(archive_entry_uid(found));
    entry.gid = id_of(archive_entry_gid(found));
    if (archive_entry_filetype(found) == AE_IFDIR) {
      entry.mode |= static_cast<std::uint32_t>(archive_entry_perm(found)) & kSticky;
    }
  }
  const std::string hard =
      text_of(archive_entry_hardlink(found), archive_entry_hardlink_utf8(found));
  if (!hard.empty()) {
    entry.type = frame::ArchiveType::hard_link;
    entry.target = hard;
    return entry;
  }
  switch (archive_entry_filetype(found)) {
    case AE_IFREG:
      entry.type = frame::ArchiveType::file;
      break;
    case AE_IFDIR:
      entry.type = frame::ArchiveType::directory;
      break;
    case AE_IFLNK:
      entry.type = frame::ArchiveType::link;
      entry.target = text_of(archive_entry_symlink(found), archive_entry_symlink_utf8(found));
      break;
    default:
      return refusal("unsafe_type", "a device, a FIFO or a socket");
  }
  return entry;
}

Status Reader::take_entry(archive_entry* found) {
  at_ = text_of(archive_entry_pathname(found), archive_entry_pathname_utf8(found));
  if (++entries_ > limits_.entries) return refusal("too_many_entries", "more than are taken");
  if (archive_entry_is_encrypted(found) != 0) return refusal("malformed", "it is encrypted");
  const bool is_linked = archive_entry_hardlink(found) != nullptr;
  if (limits_.of_an_image && !is_linked && is_no_file(found)) {
    ++left_out_;
    return {};
  }
  TRY(frame::ArchiveEntry entry, describe(found));
  TRY_DO(names_.admit(entry));
  const la_int64_t size = archive_entry_size_is_set(found) != 0 ? archive_entry_size(found) : 0;
  if (size < 0) return refusal("malformed", "a size below nothing");
  if (entry.type == frame::ArchiveType::file) entry.size = static_cast<std::uint64_t>(size);
  // Holes count: whoever writes them has to keep them apart.
  if (entry.size > limits_.bytes - declared_) {
    return refusal("too_large", "more bytes than are taken");
  }
  declared_ += entry.size;
  TRY_DO(check_ratio());
  TRY_DO(put(entry));
  // The data of others is passed over by the next header.
  return entry.type == frame::ArchiveType::file ? take_data(entry) : Status{};
}

Status Reader::take_data(const frame::ArchiveEntry& entry) {
  while (true) {
    const void* block = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int got = archive_read_data_block(archive_.get(), &block, &size, &offset);
    if (got == ARCHIVE_EOF) return {};
    if (got != ARCHIVE_OK) return malformed();
    bytes_ += size;
    if (bytes_ > limits_.bytes || offset < 0 ||
        static_cast<std::uint64_t>(offset) > limits_.bytes) {
      return refusal("too_large", "more bytes than are taken");
    }
    // Where a zip says only afterwards how much it was.
    if (entry.size != 0 && static_cast<std::uint64_t>(offset) + size > entry.size) {
      return refusal("malformed", "more bytes of a file than its size");
    }
    TRY_DO(check_ratio());
    std::string_view left{static_cast<const char*>(block), size};
    auto at = static_cast<std::uint64_t>(offset);
    while (!left.empty()) {
      const std::string_view part = left.substr(0, frame::kMostArchiveData);
      TRY_DO(put(frame::ArchiveData{.offset = at, .bytes = std::string{part}}));
      at += part.size();
      left.remove_prefix(part.size());
    }
  }
}

constexpr std::size_t kLongestText = 200;

// A sentence of ours, or the library's, which may have names of the archive in it.
std::string plain(std::string text) {
  text.resize(std::min(text.size(), kLongestText));
  std::ranges::replace_if(text, [](char each) { return each < ' ' || each > '~'; }, '?');
  return text;
}

// "code: text" in two.
frame::ArchiveRefused refused(const Error& error, const std::string& at) {
  const std::string& text = error.text();
  const std::size_t colon = std::min(text.find(": "), text.size());
  return {.code = text.substr(0, colon),
          .text = plain(text.substr(std::min(colon + 2, text.size()))),
          .entry = plain(at)};
}

}  // namespace

Status read_archive(const Source& source, const Sink& sink, const Limits& limits) {
  const auto reader = std::make_unique<Reader>(source, sink, limits);
  const Status read = reader->run();
  if (auto error = reader->outside()) return *std::move(error);
  if (!read) return sink(refused(read.error(), reader->at()));
  return sink(reader->counted());
}

}  // namespace cordon::unpack
