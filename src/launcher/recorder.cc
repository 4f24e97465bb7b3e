// SPDX-License-Identifier: Apache-2.0
#include "launcher/recorder.h"

#include <algorithm>
#include <chrono>

#include "base/bytes.h"
#include "launcher/own_program.h"
#include "os/poll.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

constexpr std::chrono::seconds kLongestLoad{10};
constexpr std::size_t kLongestWord = 512;

}  // namespace

Result<Recorder> Recorder::of(std::vector<os::Fd> parts) {
  Parts own;
  if (parts.size() != own.size()) return Error{Errc::invalid, "a recorder has other parts"};
  std::ranges::move(parts, own.begin());
  return Recorder{std::move(own)};
}

Result<Recorder> Recorder::load() {
  TRY(os::SocketPair link, os::socketpair(os::SocketType::seqpacket));
  const os::Fd* const socket = &link.two;
  TRY(os::Child child, start_own_program({.arguments = {"cordon-bpf"}, .fds = {&socket, 1}},
                                         [](const Error& /*its socket ends*/) {}));
  link.two = os::Fd{};
  TRY(const bool answers, os::wait_readable(link.one, kLongestLoad));
  if (!answers) return Error{Errc::unavailable, "cordon-bpf does not answer"};
  std::array<std::byte, kLongestWord> word{};
  TRY(os::Received got, os::receive(link.one, word, frame::kRecorderParts));
  if (got.bytes == 0) return Error{Errc::unavailable, "cordon-bpf could not be started"};
  if (got.fds.empty()) {
    return Error{Errc::unavailable, std::string{as_text(std::span{word}.first(got.bytes))}};
  }
  TRY_DO(std::move(child).wait());
  return of(std::move(got.fds));
}

Fact fact_of(const Result<Recorder>& loaded) {
  if (loaded) return {.support = Support::ok, .detail = {}, .remedy = {}};
  return {.support = Support::blocked, .detail = loaded.error().text(), .remedy = {}};
}

}  // namespace cordon::launcher
