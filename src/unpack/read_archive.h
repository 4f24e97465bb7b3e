// SPDX-License-Identifier: Apache-2.0
// From an archive's bytes to its entries: libarchive, and what we do not believe it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/result.h"
#include "frame/archive.h"
#include "unpack/limits.h"

namespace cordon::unpack {

// Fills what it is given, as far as there is; 0: the end.
using Source = std::function<Result<std::size_t>(std::span<std::byte> into)>;
// Takes each frame in its turn; an error ends the reading.
using Sink = std::function<Status(const frame::FromArchive& frame)>;

// tar (ustar, pax, GNU), as it is or under gzip or zstd, and zip. Files, directories, links and
// hard links; whatever else there is refuses the whole. The last frame is ArchiveEnd or
// ArchiveRefused, unless source or sink failed: then that is the error.
Status read_archive(const Source& source, const Sink& sink, const Limits& limits);

}  // namespace cordon::unpack
