// SPDX-License-Identifier: Apache-2.0
#include "relay/qmp.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <unistd.h>

#include "base/bytes.h"
#include "os/file.h"
#include "os/socket.h"

namespace cordon::relay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMonitorPatience{20'000};
constexpr std::size_t kLongestLine = 65536;
constexpr int kStep = 2;  // milliseconds between two questions about the same
constexpr std::string_view kShared =
    R"({"execute":"migrate-set-capabilities","arguments":{"capabilities":)"
    R"([{"capability":"x-ignore-shared","state":true}]}})";

bool has(std::string_view line, std::string_view words) {
  return line.find(words) != std::string_view::npos;
}

// Until `done` is in the answer to `question`.
Status await(Qmp& qmp, std::string_view question, std::string_view done) {
  const auto late = Clock::now() + kMonitorPatience;
  while (Clock::now() < late) {
    TRY(const std::string line, qmp.ask(question));
    if (has(line, done)) return {};
    if (has(line, R"("status": "failed")") || has(line, "internal-error")) break;
    static_cast<void>(::poll(nullptr, 0, kStep));
  }
  return Error{Errc::unavailable, "the machine's monitor did not finish"};
}

}  // namespace

Result<std::string> Qmp::next_line() {
  const auto late = Clock::now() + kMonitorPatience;
  for (;;) {
    if (const std::size_t end = bytes_.find('\n'); end != std::string::npos) {
      std::string line = bytes_.substr(0, end);
      bytes_.erase(0, end + 1);
      return line;
    }
    if (bytes_.size() > kLongestLine) return Error{Errc::invalid, "a line without end"};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(late - Clock::now());
    pollfd news{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&news, 1, static_cast<int>(left.count())) == 0) {
      return Error{Errc::timeout, "the machine's monitor does not answer"};
    }
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(socket_.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Error{Errc::unavailable, "the machine's monitor has ended"};
    bytes_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> Qmp::answer() {
  for (;;) {
    TRY(std::string line, next_line());
    if (has(line, R"({"return")")) return line;
    if (has(line, R"({"error")")) return Error{Errc::unavailable, line};
  }
}

Status Qmp::begin() {
  TRY(const std::string greeting, next_line());
  if (!has(greeting, R"("QMP")")) return Error{Errc::invalid, "no monitor of a machine"};
  TRY_DO(ask(R"({"execute":"qmp_capabilities"})"));
  return {};
}

Result<std::string> Qmp::ask(std::string_view command) {
  TRY_DO(os::write_all(socket_, std::string{command} + "\n"));
  return answer();
}

Status Qmp::say(std::string_view lines, const os::Fd& fd) {
  const os::Fd* const beside = &fd;
  TRY(const std::size_t sent, os::send(socket_, std::as_bytes(std::span{lines}), {&beside, 1}));
  if (sent != lines.size()) return Error{Errc::unavailable, "a monitor that takes no words"};
  return {};
}

Status Qmp::hand_over(const os::Fd& fd, std::string_view name) {
  TRY_DO(say(R"({"execute":"getfd","arguments":{"fdname":")" + std::string{name} + "\"}}\n", fd));
  TRY_DO(answer());
  return {};
}

Status Qmp::await(std::size_t answers, std::string_view event) {
  for (bool has_event = false; answers > 0 || !has_event;) {
    TRY(const std::string line, next_line());
    if (has(line, R"({"error")")) return Error{Errc::unavailable, line};
    if (has(line, R"({"return")") && answers > 0) --answers;
    has_event = has_event || has(line, event);
  }
  return {};
}

// Not stopped first: a machine that was comes back stopped.
Status save_machine(Qmp& qmp, const os::Fd& state) {
  TRY_DO(qmp.ask(kShared));
  TRY_DO(qmp.hand_over(state, "state"));
  TRY_DO(qmp.ask(R"({"execute":"migrate","arguments":{"uri":"fd:state"}})"));
  return await(qmp, R"({"execute":"query-migrate"})", R"("status": "completed")");
}

Status load_machine(Qmp& qmp, const os::Fd& state) {
  constexpr std::string_view kBegin = R"({"execute":"qmp_capabilities"})";
  constexpr std::string_view kTake = R"({"execute":"getfd","arguments":{"fdname":"state"}})";
  constexpr std::string_view kLoad =
      R"({"execute":"migrate-incoming","arguments":{"uri":"fd:state"}})";
  std::string lines;
  for (const std::string_view line : {kBegin, kShared, kTake, kLoad}) {
    lines += line;
    lines += '\n';
  }
  TRY_DO(qmp.say(lines, state));
  return qmp.await(4, R"("event": "RESUME")");
}

}  // namespace cordon::relay
