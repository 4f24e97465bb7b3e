// SPDX-License-Identifier: Apache-2.0
#include "frame/archive.h"

#include "frame/variant.h"

namespace cordon::frame {
namespace {

template <class Frame>
Status check(const Frame& frame) {
  const auto* entry = std::get_if<ArchiveEntry>(&frame);
  if (entry != nullptr && (entry->path.empty() || entry->path.size() > kLongestArchivePath ||
                           entry->target.size() > kLongestArchivePath)) {
    return Error{Errc::invalid, "a name that is empty or too long"};
  }
  const auto* data = std::get_if<ArchiveData>(&frame);
  if (data != nullptr && data->bytes.size() > kMostArchiveData) {
    return Error{Errc::invalid, "more data than one frame has"};
  }
  return {};
}

template <class Frame>
Result<Frame> decode(std::span<const std::byte> body) {
  TRY(Frame frame, decode_variant<Frame>(body));
  TRY_DO(check(frame));
  return frame;
}

}  // namespace

std::vector<std::byte> encode(const FromArchive& frame) {
  return with_length(encode_variant(frame));
}
std::vector<std::byte> encode(const ToArchive& frame) { return with_length(encode_variant(frame)); }

Result<FromArchive> decode_from_archive(std::span<const std::byte> body) {
  return decode<FromArchive>(body);
}
Result<ToArchive> decode_to_archive(std::span<const std::byte> body) {
  return decode<ToArchive>(body);
}

}  // namespace cordon::frame
