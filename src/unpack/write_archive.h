// SPDX-License-Identifier: Apache-2.0
// From entries to the bytes of a tar.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "frame/archive.h"
#include "unpack/limits.h"

namespace cordon::unpack {

enum class Packing : std::uint8_t { none, gzip, zstd };
// "tar", "tar.gz", "tar.zst".
std::optional<Packing> packing_from_string(std::string_view name);

// The next frame; what ends before ArchiveEnd is an error of the source.
using Frames = std::function<Result<frame::ToArchive>()>;
using Bytes = std::function<Status(std::span<const std::byte> bytes)>;

// Entries, each file followed by its data in the order of its bytes, until ArchiveEnd. The names
// are a sandbox's: whoever opens the archive later must not be led astray by them either, so that
// the same are refused as in reading, but for control characters. An error: what was written is no
// archive.
Status write_archive(const Frames& frames, const Bytes& bytes, Packing packing,
                     const Limits& limits);

}  // namespace cordon::unpack
