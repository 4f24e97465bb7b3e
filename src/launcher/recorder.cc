// SPDX-License-Identifier: Apache-2.0
#include "launcher/recorder.h"

#include <algorithm>
#include <chrono>

#include "launcher/own_program.h"
#include "os/socket.h"
#include "recorder/take_parts.h"

namespace cordon::launcher {
namespace {

constexpr std::chrono::seconds kLongestLoad{10};

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
  TRY(auto parts, recorder::take_parts(link.one, frame::kRecorderParts, kLongestLoad));
  TRY_DO(std::move(child).wait());
  return of(std::move(parts));
}

Fact fact_of(const Result<Recorder>& loaded) {
  if (loaded) return {.support = Support::ok, .detail = {}, .remedy = {}};
  return {.support = Support::blocked, .detail = loaded.error().text(), .remedy = {}};
}

}  // namespace cordon::launcher
