// SPDX-License-Identifier: Apache-2.0
#include "files/request.h"

#include <algorithm>

namespace cordon::files {

std::optional<std::string_view> Body::take_text() {
  const auto end = std::ranges::find(rest_, std::byte{0});
  if (end == rest_.end()) return std::nullopt;
  const auto length = static_cast<std::size_t>(end - rest_.begin());
  const std::string_view text{reinterpret_cast<const char*>(rest_.data()), length};
  rest_ = rest_.subspan(length + 1);
  return text;
}

void RequestCutter::push(std::span<const std::byte> bytes) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Request>> RequestCutter::next() {
  const std::span<const std::byte> rest = std::span{bytes_}.subspan(taken_);
  Body body{rest};
  const auto head = body.take<fuse_in_header>();
  if (!head) return std::optional<Request>{};
  if (head->len < sizeof(fuse_in_header) || head->len > kLongestRequest) {
    return Error{Errc::invalid, "no request of a kernel's"};
  }
  if (rest.size() < head->len) return std::optional<Request>{};
  taken_ += head->len;
  return std::optional{Request{*head, Body{rest.first(head->len).subspan(sizeof(fuse_in_header))}}};
}

std::span<std::byte> Reply::room(std::size_t most) {
  kept_ = bytes_.size();
  bytes_.resize(kept_ + most);
  return std::span{bytes_}.subspan(kept_);
}

void Reply::keep(std::size_t used) { bytes_.resize(kept_ + used); }

std::span<const std::byte> Reply::finish(std::uint64_t unique, int error) {
  if (error != 0) bytes_.resize(sizeof(fuse_out_header));
  const fuse_out_header head{
      .len = static_cast<std::uint32_t>(bytes_.size()), .error = -error, .unique = unique};
  std::memcpy(bytes_.data(), &head, sizeof head);
  return bytes_;
}

}  // namespace cordon::files
