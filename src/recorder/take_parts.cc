// SPDX-License-Identifier: Apache-2.0
#include "recorder/take_parts.h"

#include <array>
#include <string>

#include "base/bytes.h"
#include "os/poll.h"
#include "os/socket.h"

namespace cordon::recorder {
namespace {

constexpr std::size_t kLongestWord = 512;

}  // namespace

Result<std::vector<os::Fd>> take_parts(const os::Fd& link, std::size_t count,
                                       std::chrono::seconds patience) {
  TRY(const bool answers, os::wait_readable(link, patience));
  if (!answers) return Error{Errc::unavailable, "cordon-bpf does not answer"};
  std::array<std::byte, kLongestWord> word{};
  TRY(os::Received got, os::receive(link, word, count));
  if (got.bytes == 0) return Error{Errc::unavailable, "cordon-bpf could not be started"};
  if (got.fds.size() == count) return std::move(got.fds);
  if (!got.fds.empty()) return Error{Errc::invalid, "a recorder has other parts"};
  return Error{Errc::unavailable, std::string{as_text(std::span{word}.first(got.bytes))}};
}

}  // namespace cordon::recorder
