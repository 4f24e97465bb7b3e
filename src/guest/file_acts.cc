// SPDX-License-Identifier: Apache-2.0
#include "guest/file_acts.h"

#include <cerrno>
#include <unistd.h>
#include <variant>

#include "guest/process.h"
#include "os/file.h"
#include "os/pipe_size.h"

namespace cordon::guest {
namespace {

constexpr std::size_t kAnswerAtOnce = std::size_t{64} << 10U;
// Most of a long answer, so that whoever writes it need not wait for every part to be read.
constexpr std::size_t kAnswer = std::size_t{1} << 20U;

// The child has the workload's id: its bytes are judged like a stranger's.
frame::FileReply to_reply(std::uint32_t request, const std::vector<std::byte>& framed) {
  frame::FrameCutter cutter;
  cutter.push(framed);
  const auto next = cutter.next();
  if (const auto body = next ? *next : std::nullopt) {
    auto decoded = frame::decode_from_guest(*body);
    auto* reply = decoded ? std::get_if<frame::FileReply>(&*decoded) : nullptr;
    if (reply != nullptr) {
      reply->request = request;
      return std::move(*reply);
    }
  }
  return {.request = request, .error_number = EIO};
}

}  // namespace

Result<os::Fd> FileActs::begin(const os::Epoll& epoll, std::uint32_t request) {
  if (acts_.size() >= frame::kMostFileActs) return Error::from_errno("file acts", EAGAIN);
  TRY(os::Pipe pipe, os::pipe2());
  os::widen_pipe(pipe.read, kAnswer);
  TRY_DO(os::set_nonblocking(pipe.read, true));
  const std::uint32_t slot = next_slot_++;
  TRY_DO(epoll.add(pipe.read, EPOLLIN, tag_of(Role::file, slot)));
  acts_.emplace(slot, Act{.request = request, .answer = std::move(pipe.read)});
  return std::move(pipe.write);
}

std::optional<frame::FileReply> FileActs::hear(const os::Epoll& epoll, std::uint32_t slot) {
  const auto found = acts_.find(slot);
  if (found == acts_.end()) return std::nullopt;
  Act& act = found->second;
  const std::size_t had = act.bytes.size();
  act.bytes.resize(had + kAnswerAtOnce);
  const ssize_t count = ::read(act.answer.get(), act.bytes.data() + had, kAnswerAtOnce);
  const bool later = count < 0 && (errno == EAGAIN || errno == EINTR);
  act.bytes.resize(had + (count > 0 ? static_cast<std::size_t>(count) : 0));
  const bool whole = count <= 0 && !later;
  if (!whole && act.bytes.size() <= frame::kLongestGuestFrame) return std::nullopt;
  frame::FileReply reply = to_reply(act.request, act.bytes);
  static_cast<void>(epoll.remove(act.answer));
  acts_.erase(found);
  return reply;
}

void FileActs::abandon(const os::Epoll& epoll) {
  for (const auto& [slot, act] : acts_) static_cast<void>(epoll.remove(act.answer));
  acts_.clear();
}

}  // namespace cordon::guest
