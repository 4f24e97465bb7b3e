// SPDX-License-Identifier: Apache-2.0
// Archives by hand, for tests: also those that no writer would make.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "frame/archive.h"
#include "unpack/read_archive.h"
#include "unpack/write_archive.h"

namespace cordon::unpack {

struct MadeEntry {
  std::string_view name;
  char type = '0';
  std::string_view target = {};
  std::string_view data = {};
  std::uint64_t size = 0;  // where it is not that of `data`
};

// One header of 512 bytes and the data behind it, as ustar has them.
inline std::string tar_entry(const MadeEntry& entry) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    header.replace(at, text.size(), text);
  };
  const auto octal = [](std::uint64_t value, int digits) {
    return fmt::format("{:0{}o}", value, digits);
  };
  put(0, entry.name.substr(0, 100));
  put(100, "0000644");
  put(108, "0001750");
  put(116, "0001750");
  put(124, octal(entry.size != 0 ? entry.size : entry.data.size(), 11));
  put(136, octal(1'000'000'000, 11));
  put(148, "        ");
  header[156] = entry.type;
  put(157, entry.target.substr(0, 100));
  put(257, std::string_view{"ustar\00000", 8});
  unsigned sum = 0;
  for (const char each : header) sum += static_cast<unsigned char>(each);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  std::string whole = header + std::string{entry.data};
  whole.resize((whole.size() + 511) / 512 * 512);
  return whole;
}

inline std::string tar_of(const std::vector<MadeEntry>& entries) {
  std::string all;
  for (const MadeEntry& entry : entries) all += tar_entry(entry);
  return all + std::string(1024, '\0');
}

struct ReadBack {
  std::vector<frame::ArchiveEntry> entries;
  std::vector<std::string> data;  // of each entry
  std::string refused;            // the code
  std::string why;
  std::string at;  // the entry that it was refused at
  bool ended = false;
};

inline ReadBack read_back(std::string_view archive, const Limits& limits = {}) {
  ReadBack got;
  const Status read = read_archive(
      [&](std::span<std::byte> into) -> Result<std::size_t> {
        const std::string_view part = archive.substr(0, into.size());
        std::memcpy(into.data(), part.data(), part.size());
        archive.remove_prefix(part.size());
        return part.size();
      },
      [&](const frame::FromArchive& frame) -> Status {
        if (const auto* entry = std::get_if<frame::ArchiveEntry>(&frame)) {
          got.entries.push_back(*entry);
          got.data.emplace_back();
        } else if (const auto* data = std::get_if<frame::ArchiveData>(&frame)) {
          got.data.back().resize(data->offset);
          got.data.back() += data->bytes;
        } else if (const auto* refused = std::get_if<frame::ArchiveRefused>(&frame)) {
          got.refused = refused->code;
          got.why = refused->text;
          got.at = refused->entry;
        } else {
          got.ended = true;
        }
        return {};
      },
      limits);
  if (!read) got.refused = "outside: " + read.error().text();
  return got;
}

inline Result<std::string> written(std::vector<frame::ToArchive> frames,
                                   Packing packing = Packing::none) {
  std::string all;
  std::size_t next = 0;
  TRY_DO(write_archive(
      [&]() -> Result<frame::ToArchive> {
        if (next == frames.size()) return Error{Errc::invalid, "no end"};
        return frames[next++];
      },
      [&](std::span<const std::byte> bytes) -> Status {
        all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
      },
      packing, {.control_characters = true}));
  return all;
}

}  // namespace cordon::unpack
