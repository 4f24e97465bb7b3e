// SPDX-License-Identifier: Apache-2.0
// How much of an archive is believed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frame/archive.h"

namespace cordon::unpack {

struct Limits {
  std::uint64_t entries = 100'000;
  std::uint64_t bytes = std::uint64_t{4} << 30U;  // of all files, as they would be written
  std::size_t name = frame::kLongestArchivePath;  // of a path, and of a link's target
  std::size_t component = 255;
  std::size_t names = std::size_t{32} << 20U;  // of all paths together: they are kept to the end
  std::size_t depth = 256;
  bool control_characters = false;  // in names; what comes from a sandbox has the names it has
  // A layer of an image: owners and sticky bits count, and what is neither file, directory nor link
  // is left out.
  bool of_an_image = false;
  // Bytes that come out for each that went in, beyond the first `free_bytes`: a bomb has
  // thousands, and so have files of zeros, which are small. Counted by filter: nothing is nested.
  std::uint64_t ratio = 200;
  std::uint64_t free_bytes = std::uint64_t{32} << 20U;
};

// Of one layer of an image.
inline constexpr Limits kLayerLimits{.entries = 1'000'000,
                                     .bytes = std::uint64_t{32} << 30U,
                                     .names = std::size_t{64} << 20U,
                                     .of_an_image = true,
                                     .ratio = 1000};

}  // namespace cordon::unpack
