// SPDX-License-Identifier: Apache-2.0
#include "guest/output_stream.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/bytes.h"

namespace cordon::guest {
namespace {

// The same bytes as encode(FromGuest{Output}), without the two copies that it costs; a test holds
// them against each other.
constexpr auto kOutputType = std::uint8_t{3};
static_assert(
    std::is_same_v<std::variant_alternative_t<kOutputType, frame::FromGuest>, frame::Output>);
constexpr std::size_t kOutputHeader = 1 + 4 + 1 + 8 + 4;

void append(std::vector<std::byte>& out, const std::vector<std::byte>& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

Status OutputStream::open(const os::Epoll& epoll, os::Fd fd) {
  fd_ = std::move(fd);
  return watch(epoll, true);
}

void OutputStream::end(const os::Epoll& epoll) {
  static_cast<void>(watch(epoll, false));
  fd_ = os::Fd{};
  if (!ended_) end_owed_ = true;
  ended_ = true;
}

// Taken out of the set while nobody may read: with no event asked for, the kernel would still tell
// of a hang-up, again and again.
Status OutputStream::watch(const os::Epoll& epoll, bool on) {
  if (!fd_ || watched_ == on) return {};
  watched_ = on;
  return on ? epoll.add(fd_, EPOLLIN, tag_) : epoll.remove(fd_);
}

Status OutputStream::read_once(const os::Epoll& epoll) {
  TRY(const Ring::Read read, ring_.read_from(fd_));
  if (read == Ring::Read::ended || (is_left_ && read == Ring::Read::nothing_now)) end(epoll);
  return watch(epoll, !ring_.full());
}

Status OutputStream::fill(const os::Epoll& epoll) {
  if (!fd_ || ring_.full()) return {};
  return read_once(epoll);
}

Status OutputStream::drain(const os::Epoll& epoll) {
  while (fd_ && !ring_.full()) {
    const std::uint64_t before = ring_.end();
    TRY_DO(read_once(epoll));
    if (ring_.end() == before) break;
  }
  return {};
}

Status OutputStream::drain_to_end(const os::Epoll& epoll) {
  is_left_ = true;
  return drain(epoll);
}

bool OutputStream::append_owed(std::vector<std::byte>& out) {
  if (sent_ < ring_.end()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(ring_.end() - sent_, frame::kMostData));
    ByteWriter header;
    header.integer(static_cast<std::uint32_t>(kOutputHeader + count));
    header.integer(kOutputType);
    header.integer(process_);
    header.integer(static_cast<std::uint8_t>(stream_));
    header.integer(sent_);
    header.integer(static_cast<std::uint32_t>(count));
    append(out, std::move(header).take());
    ring_.copy_to(out, sent_, count);
    sent_ += count;
    return true;
  }
  if (!end_owed_) return false;
  end_owed_ = false;
  append(out, encode(frame::FromGuest{frame::OutputEnd{
                  .process = process_, .stream = stream_, .offset = ring_.end()}}));
  return true;
}

Result<bool> OutputStream::acknowledge(const os::Epoll& epoll, std::uint64_t offset) {
  if (offset > sent_) {
    // Between a Resume and the repetition a host may acknowledge what it had before.
    if (offset > ring_.end()) return false;
    sent_ = offset;
  }
  if (!ring_.acknowledge(offset)) return false;
  // Of what is left behind no event tells that there is nothing.
  TRY_DO(is_left_ ? drain(epoll) : watch(epoll, !ring_.full()));
  return true;
}

void OutputStream::resume() noexcept {
  sent_ = ring_.begin();
  end_owed_ = ended_;
}

}  // namespace cordon::guest
