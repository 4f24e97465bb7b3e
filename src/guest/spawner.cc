// SPDX-License-Identifier: Apache-2.0
#include "guest/spawner.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "frame/guest.h"
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

void report(const os::Fd& link, const SpawnerReport& said, const std::vector<os::Fd>& fds = {}) {
  std::vector<const os::Fd*> beside;
  beside.reserve(fds.size());
  for (const os::Fd& fd : fds) beside.push_back(&fd);
  // Without pid 1 there is nobody to serve.
  if (!os::send(link, said.bytes(), beside)) ::_exit(1);
}

[[noreturn]] void end(const os::Fd& link, Kind kind, std::string_view step, int error_number) {
  report(link, SpawnerReport::failure(kind, step, error_number));
  ::_exit(1);
}

struct Request {
  Ask ask = Ask::start;
  std::string body;
  os::Fd answer;  // of a file act
};

// Ends with pid 1's end of the link.
Request receive(const os::Fd& link) {
  std::array<std::byte, 1 + kMostInMessage> message;  // NOLINT(*-member-init): filled as it comes
  auto received = os::receive(link, message, 2);
  if (!received || received->bytes == 0) ::_exit(0);
  Request request{.ask = static_cast<Ask>(message[0])};
  if (received->bytes > 1) {
    request.body = as_text(std::span{message}.subspan(1, received->bytes - 1));
  } else if (!received->fds.empty()) {
    auto body = os::read_all(received->fds.front(), frame::kLongestGuestFrame);
    if (body) request.body = *std::move(body);
  }
  if (request.ask == Ask::file && !received->fds.empty()) {
    request.answer = std::move(received->fds.back());
  }
  return request;
}

[[noreturn]] void start(const os::Fd& link, const frame::Start& wanted, Streams streams) {
  if (wanted.terminal) {
    auto terminal = make_terminal(*wanted.terminal);
    if (!terminal) end(link, Kind::failed, "terminal", terminal.error().cause().value());
    streams = *std::move(terminal);
  }
  // Before the program runs, so that pid 1 can serve it whatever becomes of us.
  report(link, {.kind = Kind::begun}, streams.ours);
  const StartFailure failure = become_program(wanted, streams);
  end(link, Kind::failed, failure.step, failure.error_number);
}

// A child of pid 1, as we are.
long make_sibling() {
  return ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0UL);
}

// In a process of its own, because a file may be as slow or as large as the workload likes: a
// sibling, so that no program finds a child that it has not made.
void act_on_file(const os::Fd& link, const frame::FileRequest& wanted, const os::Fd& answer,
                 Streams& streams) {
  const long child = make_sibling();
  if (child > 0) return;
  const int error_number = errno;
  frame::FileReply reply{.request = wanted.request, .error_number = error_number};
  if (child == 0) {
    // Else the next program's output would not end before we do.
    streams = Streams{};
    ::close(link.get());
    reply = act(wanted);
  }
  const std::vector<std::byte> framed = encode(frame::FromGuest{std::move(reply)});
  static_cast<void>(os::write_all(answer, as_text(framed)));
  if (child == 0) ::_exit(0);
}

void descend_or_end(const os::Fd& link, std::span<const Step> steps, const Descent& descent) {
  if (const auto failure = descend(steps, descent)) {
    end(link, Kind::fallen, failure->step, failure->error_number);
  }
}

// Those that pid 1 has sent, or the end.
frame::Fences await_fences(const os::Fd& link) {
  const Request request = receive(link);
  auto decoded = frame::decode_to_guest(as_bytes(request.body));
  auto* const setup = decoded ? std::get_if<frame::Setup>(&*decoded) : nullptr;
  if (request.ask != Ask::fences || setup == nullptr) end(link, Kind::fallen, "fences", EBADMSG);
  return std::move(setup->fences);
}

// The link as the descriptor that it has in every spawner.
void take_link(os::Fd link) {
  if (link.get() != kLink && ::dup3(link.get(), kLink, O_CLOEXEC) < 0) ::_exit(1);
  if (link.get() == kLink) static_cast<void>(link.release());
}

// Another spawner without another descent. True: we are it. Where it cannot be, pid 1 makes one
// when it needs one.
bool copy(const os::Fd& link) {
  auto pair = os::socketpair(os::SocketType::seqpacket);
  if (!pair) return false;
  const long child = make_sibling();
  if (child < 0) return false;
  if (child == 0) {
    pair->one = os::Fd{};
    take_link(std::move(pair->two));
    return true;
  }
  std::vector<os::Fd> ours;
  ours.push_back(std::move(pair->one));
  report(link, {.kind = Kind::copied, .pid = static_cast<std::int32_t>(child)}, ours);
  return false;
}

// Returns in a copy.
void serve(const os::Fd& link) {
  auto streams = make_pipes();
  if (!streams) end(link, Kind::fallen, "streams", streams.error().cause().value());
  report(link, {.kind = Kind::ready}, streams->ours);
  streams->ours.clear();
  while (true) {
    Request request = receive(link);
    if (request.ask == Ask::copy) {
      if (copy(link)) return;
      continue;
    }
    const auto wanted = frame::decode_to_guest(as_bytes(request.body));
    if (!wanted) end(link, Kind::failed, "request", EBADMSG);
    if (const auto* to_start = std::get_if<frame::Start>(&*wanted)) {
      start(link, *to_start, *std::move(streams));
    }
    if (const auto* file = std::get_if<frame::FileRequest>(&*wanted); file && request.answer) {
      act_on_file(link, *file, request.answer, *streams);
    }
  }
}

}  // namespace

void be_spawner(os::Fd inherited, const frame::Fences* fences, FilterLookup find_filter) {
  take_link(std::move(inherited));
  const os::Fd link{kLink};
  if (!os::close_from(kLink + 1)) ::_exit(1);
  ::umask(022);
  const std::span<const Step> steps{kToSpawner};
  frame::Fences awaited;
  const bool ahead = fences == nullptr;
  if (ahead) awaited = await_fences(link);
  const frame::Fences& wanted = ahead ? awaited : *fences;
  const Descent descent{
      .fences = wanted, .find_filter = find_filter, .one_id = wanted.uid == ::getuid()};
  descend_or_end(link, steps.first(kBeforeTree), descent);
  if (ahead && receive(link).ask != Ask::go) end(link, Kind::fallen, "tree", EBADMSG);
  descend_or_end(link, steps.subspan(kBeforeTree), descent);
  while (true) serve(link);
}

}  // namespace cordon::guest
