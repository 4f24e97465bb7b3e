// SPDX-License-Identifier: Apache-2.0
// A first process that speaks wrongly: put in the place of cordon-init, it answers the first start
// in the way that the command's first word names, and then waits for its end.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "frame/guest.h"

namespace cordon {
namespace {

constexpr int kControl = 3;
constexpr unsigned kSlowMicroseconds = 200'000;
constexpr std::size_t kFlood = 400;  // frames of 64 KiB: more than any ring

void say(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(kControl, bytes.data(), bytes.size());
    if (wrote <= 0) ::_exit(0);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void say(const frame::FromGuest& frame) {
  const std::vector<std::byte> bytes = encode(frame);
  say(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void say_length(std::uint32_t length, std::string_view body) {
  say({reinterpret_cast<const char*>(&length), sizeof length});
  say(body);
}

void say_output(std::uint32_t process, std::uint64_t offset, std::string bytes) {
  say(frame::Output{.process = process,
                    .stream = frame::Stream::out,
                    .offset = offset,
                    .bytes = std::move(bytes)});
}

void flood(std::uint32_t process) {
  for (std::size_t i = 0; i < kFlood; ++i) {
    say_output(process, i * frame::kMostData, std::string(frame::kMostData, 'x'));
  }
}

void dribble() {
  say_length(1U << 20U, "");
  for (;;) {
    say("x");
    ::usleep(kSlowMicroseconds);
  }
}

// Nothing here is wrong twice: each way is one line.
void misbehave(const std::string& way, std::uint32_t process) {
  if (way == "long") say_length(0xFFFFFFFF, "x");
  if (way == "empty") say_length(0, "");
  if (way == "type") say_length(1, "\xC8");
  if (way == "trailing") say_length(4, std::string_view{"\0\1\0\7", 4});
  if (way == "version") say(frame::Hello{.version = 99});
  if (way == "stranger") say_output(process + 77, 0, "of nobody");
  if (way == "gap") say_output(process, std::uint64_t{1} << 40U, "from the future");
  if (way == "unasked") say(frame::Usage{.request = 4711});
  if (way == "file") say(frame::FileReply{.request = 1});
  if (way == "input") say(frame::InputTaken{.process = process, .offset = 1U << 30U});
  if (way == "flood") flood(process);
  if (way == "slow") dribble();
  if (way == "end") ::_exit(0);
  // "silent": nothing at all
}

[[noreturn]] void serve() {
  frame::FrameCutter cutter;
  std::array<std::byte, 65536> some{};
  for (;;) {
    const ssize_t got = ::read(kControl, some.data(), some.size());
    if (got <= 0) ::_exit(0);
    cutter.push(std::span{some}.first(static_cast<std::size_t>(got)));
    for (;;) {
      const auto next = cutter.next();
      if (!next) ::_exit(1);
      const auto& body = *next;
      if (!body) break;
      const auto frame = frame::decode_to_guest(*body);
      if (!frame) ::_exit(1);
      if (std::holds_alternative<frame::Resume>(*frame)) say(frame::Hello{});
      if (const auto* start = std::get_if<frame::Start>(&*frame)) {
        misbehave(start->arguments.front(), start->process);
      }
    }
  }
}

}  // namespace
}  // namespace cordon

int main() { cordon::serve(); }
