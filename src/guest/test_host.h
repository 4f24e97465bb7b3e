// SPDX-License-Identifier: Apache-2.0
// The host's side of a guest, for tests: sends frames, hears frames, keeps what it heard.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include "frame/guest.h"
#include "os/fd.h"
#include "os/socket.h"

namespace cordon::guest {

// What a host has heard of one process.
struct Heard {
  std::uint32_t pid = 0;
  std::string out;
  std::string err;
  bool out_ended = false;
  bool err_ended = false;
  std::uint64_t taken = 0;
  std::vector<frame::Exited> exits;
  std::vector<frame::Failed> failures;
  int gaps = 0;  // frames that did not continue where the last one ended

  bool over() const { return !failures.empty() || (!exits.empty() && out_ended); }
};

class TestHost {
 public:
  explicit TestHost(os::Fd stream) : stream_{std::move(stream)} {}

  bool send(const frame::ToGuest& frame) { return send_bytes(encode(frame)); }
  bool send_bytes(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count =
          ::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN) return false;
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
      if (count >= 0) continue;
      // Listens while it cannot talk, as a host must.
      poll_for(POLLIN | POLLOUT, std::chrono::seconds{1});
      if (poll_for(POLLIN, std::chrono::milliseconds{0}) && !hear_once()) return false;
    }
    return true;
  }

  // Hears until the question is answered with yes, the stream ends or the time is over.
  bool hear_until(const std::function<bool()>& question,
                  std::chrono::milliseconds limit = std::chrono::seconds{20}) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!question()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0 || ended_) return false;
      if (poll_for(POLLIN, left) && !hear_once()) return question();
    }
    return true;
  }
  bool hear_end(std::uint32_t process) {
    return hear_until([this, process] { return heard[process].over(); });
  }
  bool hear_hello() {
    return hear_until([this] { return hellos > 0; });
  }

  // Starts, and hears to the end.
  const Heard& run(frame::Start start) {
    const std::uint32_t process = start.process;
    if (send(std::move(start))) hear_end(process);
    return heard[process];
  }
  frame::FileReply ask(frame::FileRequest request) {
    const std::uint32_t number = request.request;
    if (send(std::move(request))) hear_until([&] { return files.contains(number); });
    return files[number];
  }

  // As a host that has just begun: what is half heard is lost.
  void forget() { cutter_ = frame::FrameCutter{}; }
  os::Fd& stream() { return stream_; }
  bool ended() const { return ended_; }

  bool acknowledges = true;
  int hellos = 0;
  std::map<std::uint32_t, Heard> heard;
  std::map<std::uint32_t, frame::FileReply> files;
  std::map<std::uint32_t, frame::Usage> usages;
  std::optional<frame::Processes> processes;  // the last that were told
  std::vector<frame::FromGuest> aside;        // of tunnels and watches

  // One read. False: the stream has ended.
  bool hear_once(std::size_t most = std::size_t{64} << 10U) {
    std::vector<std::byte> buffer(most);
    const ssize_t count = ::recv(stream_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) {
      ended_ = true;
      return false;
    }
    cutter_.push(std::span{buffer}.first(static_cast<std::size_t>(count)));
    while (true) {
      const auto next = cutter_.next();
      if (!next) return false;
      const auto body = *next;
      if (!body) break;
      const auto frame = frame::decode_from_guest(*body);
      if (!frame) return false;
      std::visit([this](const auto& each) { take(each); }, *frame);
    }
    answer();
    return true;
  }

 private:
  bool poll_for(int events, std::chrono::milliseconds limit) const {
    pollfd one{.fd = stream_.get(), .events = static_cast<short>(events)};
    return ::poll(&one, 1, static_cast<int>(limit.count())) > 0;
  }
  void answer() {
    std::vector<std::byte> bytes;
    for (const auto& frame : std::exchange(owed_, {})) {
      const auto encoded = encode(frame);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    }
    static_cast<void>(::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0);
  }

  void take(const frame::Hello&) { ++hellos; }
  void take(const frame::Failed& failed) { heard[failed.process].failures.push_back(failed); }
  void take(const frame::Started& started) { heard[started.process].pid = started.pid; }
  void take(const frame::Output& output) {
    Heard& process = heard[output.process];
    std::string& text = output.stream == frame::Stream::out ? process.out : process.err;
    if (output.offset > text.size()) ++process.gaps;
    // A repetition says the same again.
    const std::size_t known =
        std::min<std::size_t>(text.size() - output.offset, output.bytes.size());
    if (text.compare(output.offset, known, output.bytes, 0, known) != 0) ++process.gaps;
    text += output.bytes.substr(known);
    if (acknowledges) {
      owed_.emplace_back(frame::Acknowledge{
          .process = output.process, .stream = output.stream, .offset = text.size()});
    }
  }
  void take(const frame::OutputEnd& end) {
    Heard& process = heard[end.process];
    const bool is_out = end.stream == frame::Stream::out;
    (is_out ? process.out_ended : process.err_ended) = true;
    if ((is_out ? process.out : process.err).size() != end.offset) ++process.gaps;
  }
  void take(const frame::InputTaken& taken) { heard[taken.process].taken = taken.offset; }
  void take(const frame::Exited& exited) {
    heard[exited.process].exits.push_back(exited);
    if (acknowledges) owed_.emplace_back(frame::AcknowledgeExit{.process = exited.process});
  }
  void take(const frame::Usage& usage) { usages[usage.request] = usage; }
  void take(const frame::FileReply& reply) { files[reply.request] = reply; }
  void take(const frame::Processes& told) { processes = told; }
  template <class Aside>
  void take(const Aside& said) {
    aside.emplace_back(said);
  }

  os::Fd stream_;
  frame::FrameCutter cutter_;
  std::vector<frame::ToGuest> owed_;
  bool ended_ = false;
};

inline frame::Start shell(std::uint32_t process, std::string_view script) {
  return {.process = process,
          .arguments = {"sh", "-c", std::string{script}},
          .environment = {"PATH=/usr/bin:/bin"},
          .directory = "/"};
}

}  // namespace cordon::guest
