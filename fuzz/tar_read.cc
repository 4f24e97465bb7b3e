// SPDX-License-Identifier: Apache-2.0
// Any bytes as an archive, and as a layer of an image: entries that keep their promises, and one
// last word.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "promise.h"
#include "unpack/names.h"
#include "unpack/read_archive.h"

namespace {

using cordon::Result;
using cordon::Status;
using cordon::fuzz::broken;
namespace frame = cordon::frame;

constexpr cordon::unpack::Limits kLimits{.entries = 64, .bytes = 1U << 20U};

void check_path(const std::string& path) {
  if (path.empty() || path.starts_with('/') || path.size() > kLimits.name)
    broken("a relative path");
  std::string_view left{path};
  while (path != "." && !left.empty()) {
    const std::size_t end = std::min(left.find('/'), left.size());
    const std::string_view part = left.substr(0, end);
    if (part.empty() || part == "." || part == "..") broken("a path of plain names");
    left.remove_prefix(std::min(end + 1, left.size()));
  }
}

// Holds what is said against what is promised.
class Judge {
 public:
  Status hear(const frame::FromArchive& said) {
    if (last_words_ > 0) broken("one last word");
    const auto framed = encode(said);
    if (framed.size() - 4 > frame::kLongestArchiveFrame) broken("a frame within its bound");
    if (!frame::decode_from_archive(std::span{framed}.subspan(4))) {
      broken("a frame that is read again");
    }
    if (const auto* entry = std::get_if<frame::ArchiveEntry>(&said)) {
      take(*entry);
    } else if (const auto* part = std::get_if<frame::ArchiveData>(&said)) {
      bytes_ += part->bytes.size();
      if (entries_ == 0 || bytes_ > kLimits.bytes) broken("no more bytes than are taken");
    } else {
      const auto* refused = std::get_if<frame::ArchiveRefused>(&said);
      if (refused != nullptr && refused->code.empty()) broken("a refusal names its rule");
      ++last_words_;
    }
    return {};
  }
  bool has_ended() const { return last_words_ == 1; }

 private:
  void take(const frame::ArchiveEntry& entry) {
    if (++entries_ > kLimits.entries) broken("no more entries than are taken");
    check_path(entry.path);
    for (std::size_t at = entry.path.find('/'); at != std::string::npos;
         at = entry.path.find('/', at + 1)) {
      if (links_.contains(entry.path.substr(0, at))) broken("no path through a link");
    }
    if (entry.type == frame::ArchiveType::link) links_.insert(entry.path);
    const bool is_new = names_.insert(entry.path).second;
    if (!is_new && entry.type != frame::ArchiveType::directory) broken("no name twice");
    if (entry.type == frame::ArchiveType::hard_link) check_path(entry.target);
    const std::uint32_t most = entry.type == frame::ArchiveType::directory ? 01777 : 0777;
    if ((entry.mode & ~most) != 0) broken("no set-id bits");
    if (entry.uid >= 65535 || entry.gid >= 65535) broken("an id that a sandbox has");
  }

  std::set<std::string> links_;
  std::set<std::string> names_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  int last_words_ = 0;
};

void try_once(std::span<const std::byte> left, const cordon::unpack::Limits& limits) {
  Judge judge;
  const Status read = cordon::unpack::read_archive(
      [&](std::span<std::byte> into) -> Result<std::size_t> {
        const auto part = left.first(std::min(left.size(), into.size()));
        if (!part.empty()) std::memcpy(into.data(), part.data(), part.size());
        left = left.subspan(part.size());
        return part.size();
      },
      [&](const frame::FromArchive& said) { return judge.hear(said); }, limits);
  if (!read || !judge.has_ended()) broken("an archive has an end, or is refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool utf8 = cordon::unpack::use_utf8_names();
  static_cast<void>(utf8);
  for (const bool of_an_image : {false, true}) {
    cordon::unpack::Limits limits = kLimits;
    limits.of_an_image = of_an_image;
    try_once(std::as_bytes(std::span{data, size}), limits);
  }
  return 0;
}
