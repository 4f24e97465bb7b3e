// SPDX-License-Identifier: Apache-2.0
#include "guest/spawner.h"

#include <array>
#include <cerrno>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "guest/descent.h"
#include "guest/file_act.h"
#include "guest/program.h"
#include "guest/spawner_report.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

using Kind = SpawnerReport::Kind;
constexpr int kLinkNumber = 3;

void report(const os::Fd& link, const SpawnerReport& said, const std::vector<os::Fd>& fds = {}) {
  std::vector<const os::Fd*> beside;
  beside.reserve(fds.size());
  for (const os::Fd& fd : fds) beside.push_back(&fd);
  // Without pid 1 there is nobody to serve.
  if (!os::send(link, said.bytes(), beside)) ::_exit(1);
}

// Ignored signals pass through exec: whatever our ancestors ignored, a workload must not. Children
// that do file acts vanish without being waited for.
void set_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number <= 64; ++number) ::sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &action, nullptr);
}

void start(const os::Fd& link, const frame::Start& wanted) {
  auto streams = make_streams(wanted);
  if (!streams) {
    const char* step = wanted.terminal ? "terminal" : "streams";
    report(link, SpawnerReport::failure(Kind::done, step, streams.error().cause().value()));
    return;
  }
  // Before the program runs, so that pid 1 can serve it whatever becomes of us.
  report(link, {.kind = Kind::streams}, streams->ours);
  streams->ours.clear();
  const auto failure = run_program(wanted, *streams, link);
  report(link, failure ? SpawnerReport::failure(Kind::done, failure->step, failure->error_number)
                       : SpawnerReport{.kind = Kind::done});
}

// In a child, because a file may be as slow or as large as the workload likes.
void act_on_file(const os::Fd& link, const frame::FileRequest& wanted, const os::Fd& answer) {
  const pid_t child = ::fork();
  if (child > 0) return;
  const int error_number = errno;
  frame::FileReply reply{.request = wanted.request, .error_number = error_number};
  if (child == 0) {
    ::close(link.get());
    reply = act(wanted);
  }
  const std::vector<std::byte> framed = encode(frame::FromGuest{std::move(reply)});
  static_cast<void>(
      os::write_all(answer, {reinterpret_cast<const char*>(framed.data()), framed.size()}));
  if (child == 0) ::_exit(0);
}

void serve_one(const os::Fd& link, Ask ask, const std::vector<os::Fd>& fds) {
  if (fds.empty()) return;
  const auto body = os::read_all(fds[0], frame::kLongestGuestFrame);
  if (!body) return report(link, SpawnerReport::failure(Kind::done, "request", EIO));
  const auto wanted = frame::decode_to_guest(as_bytes(*body));
  if (!wanted) return report(link, SpawnerReport::failure(Kind::done, "request", EBADMSG));
  if (const auto* to_start = std::get_if<frame::Start>(&*wanted); ask == Ask::start && to_start) {
    return start(link, *to_start);
  }
  if (const auto* file = std::get_if<frame::FileRequest>(&*wanted); file && fds.size() == 2) {
    act_on_file(link, *file, fds[1]);
  }
}

}  // namespace

void be_spawner(os::Fd inherited, const frame::Fences& fences, FilterLookup find_filter) {
  if (inherited.get() != kLinkNumber && ::dup3(inherited.get(), kLinkNumber, O_CLOEXEC) < 0) {
    ::_exit(1);
  }
  static_cast<void>(inherited.release());
  const os::Fd link{kLinkNumber};
  if (!os::close_from(kLinkNumber + 1)) ::_exit(1);
  set_signals();
  ::umask(022);
  if (const auto failure = descend({.fences = fences, .find_filter = find_filter})) {
    report(link, SpawnerReport::failure(Kind::fallen, failure->step, failure->error_number));
    ::_exit(1);
  }
  report(link, {.kind = Kind::ready});
  while (true) {
    std::array<std::byte, 1> ask{};
    const auto received = os::receive(link, ask, 2);
    if (!received || received->bytes == 0) ::_exit(0);
    serve_one(link, static_cast<Ask>(ask[0]), received->fds);
  }
}

}  // namespace cordon::guest
