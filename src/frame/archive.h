// SPDX-License-Identifier: Apache-2.0
// What cordon-unpack says of an archive, and hears of one that it is to make: entries and their
// bytes, as frames (frame/guest.h has the cutter) over a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fields.h"

namespace cordon::frame {

inline constexpr std::size_t kLongestArchivePath = 4096;
// Bytes of data in one frame.
inline constexpr std::size_t kMostArchiveData = std::size_t{64} << 10U;
// The longest frame, its type byte included.
inline constexpr std::size_t kLongestArchiveFrame = kMostArchiveData + 2 * kLongestArchivePath;

enum class ArchiveType : std::uint8_t { file, directory, link, hard_link };
constexpr ArchiveType last_of(ArchiveType) noexcept { return ArchiveType::hard_link; }

// Of one that was read: `path` is relative, has neither `.` nor `..` nor empty components, and
// leads through no link of the same archive. So is `target` of a hard link, which names a file that
// came before. `target` of a link is any text.
struct ArchiveEntry {
  std::string path;
  ArchiveType type = ArchiveType::file;
  std::uint32_t mode = 0;  // permission bits, without set-id; of an image's directory also sticky
  std::uint64_t size = 0;  // of a file
  std::uint64_t modified = 0;  // nanoseconds since 1970
  std::string target;          // of a link, and of a hard link
  std::uint32_t uid = 0;       // these two of images only
  std::uint32_t gid = 0;
  CORDON_FIELDS(ArchiveEntry, self.path, self.type, self.mode, self.size, self.modified,
                self.target, self.uid, self.gid);
};

// Of the file whose entry came last. What lies between two pieces, or behind the last, is zeros.
struct ArchiveData {
  std::uint64_t offset = 0;
  std::string bytes;
  CORDON_FIELDS(ArchiveData, self.offset, self.bytes);
};

// It was read, or is to be, to its end.
struct ArchiveEnd {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;     // of data
  std::uint64_t left_out = 0;  // devices, FIFOs and sockets, which an image is taken without
  CORDON_FIELDS(ArchiveEnd, self.entries, self.bytes, self.left_out);
};

// The last word about an archive that is not taken: nothing of it should stay. `code`: "malformed",
// "unsafe_path", "unsafe_link", "unsafe_type", "duplicate", "too_many_entries", "too_large",
// "too_long_name", "too_dense".
struct ArchiveRefused {
  std::string code;
  std::string text;
  std::string entry;  // at which, as far as it can be printed; empty: at none
  CORDON_FIELDS(ArchiveRefused, self.code, self.text, self.entry);
};

using FromArchive = std::variant<ArchiveEntry, ArchiveData, ArchiveEnd, ArchiveRefused>;
using ToArchive = std::variant<ArchiveEntry, ArchiveData, ArchiveEnd>;

// With the length in front.
std::vector<std::byte> encode(const FromArchive& frame);
std::vector<std::byte> encode(const ToArchive& frame);
// `body`: a whole frame without its length. Bounds hold afterwards.
Result<FromArchive> decode_from_archive(std::span<const std::byte> body);
Result<ToArchive> decode_to_archive(std::span<const std::byte> body);

}  // namespace cordon::frame
