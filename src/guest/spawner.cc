// SPDX-License-Identifier: Apache-2.0
#include "guest/spawner.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
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
#include "guest/dial.h"
#include "guest/file_act.h"
#include "guest/program.h"
#include "guest/spawner_report.h"
#include "guest/tree_read.h"
#include "guest/tree_write.h"
#include "guest/watcher.h"
#include "os/file.h"
#include "os/process.h"
#include "os/socket.h"

namespace cordon::guest {
namespace {

using ReportKind = SpawnerReport::Kind;

void report(const os::Fd& link, const SpawnerReport& said, const std::vector<os::Fd>& fds = {}) {
  std::vector<const os::Fd*> beside;
  beside.reserve(fds.size());
  for (const os::Fd& fd : fds) beside.push_back(&fd);
  // Without pid 1 there is nobody to serve.
  if (!os::send(link, said.bytes(), beside)) ::_exit(1);
}

[[noreturn]] void end(const os::Fd& link, ReportKind kind, std::string_view step,
                      int error_number) {
  report(link, SpawnerReport::failure(kind, step, error_number));
  ::_exit(1);
}

struct Request {
  Ask ask = Ask::start;
  std::string body;
  os::Fd answer;  // of what is done aside
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
  if (request.ask == Ask::aside && !received->fds.empty()) {
    request.answer = std::move(received->fds.back());
  }
  return request;
}

// What was sent to a spawner that waits, to all of a sandbox say, was not sent to the program. A
// signal that is ignored is forgotten where it waits.
void forget_signals() {
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return;
  for (int number = 1; number < NSIG; ++number) {
    if (::sigismember(&waiting, number) != 1) continue;
    static_cast<void>(std::signal(number, SIG_IGN));
    static_cast<void>(std::signal(number, SIG_DFL));
  }
}

// Without streams, and for a terminal, they are made here.
[[noreturn]] void start(const os::Fd& link, const frame::Start& wanted,
                        std::optional<Streams> streams) {
  auto program = prepare(wanted);
  if (!program) end(link, ReportKind::failed, program.error().step, program.error().error_number);
  if (wanted.terminal || !streams) {
    auto made = wanted.terminal ? make_terminal(*wanted.terminal) : make_pipes();
    const char* const step = wanted.terminal ? "terminal" : "streams";
    if (!made) end(link, ReportKind::failed, step, made.error().cause().value());
    streams = *std::move(made);
  }
  forget_signals();
  // Before the program runs, so that pid 1 can serve it whatever becomes of us.
  report(link, {.kind = ReportKind::begun}, streams->ours);
  const StartFailure failure = become(*program, *streams);
  end(link, ReportKind::failed, failure.step, failure.error_number);
}

// What is done beside the programs, each in a process of its own.
void answer_with(frame::FileReply reply, const os::Fd& answer) {
  const std::vector<std::byte> framed = encode(frame::FromGuest{std::move(reply)});
  static_cast<void>(os::write_all(answer, as_text(framed)));
}
void act_aside(const frame::FileRequest& wanted, const os::Fd& answer) {
  answer_with(act(wanted), answer);
}
void act_aside(const frame::WriteTree& wanted, const os::Fd& answer) {
  answer_with(write_tree(wanted), answer);
}
void act_aside(const frame::ReadTree& wanted, const os::Fd& answer) {
  answer_with(read_tree(wanted), answer);
}
void act_aside(const frame::OpenTunnel& wanted, const os::Fd& answer) { dial(wanted, answer); }
void act_aside(const frame::StartWatch& wanted, const os::Fd& answer) { watch(wanted, answer); }

template <class Wanted>
  requires requires(const Wanted& wanted) { wanted.request; }
void refuse_aside(const Wanted& wanted, int error_number, const os::Fd& answer) {
  answer_with({.request = wanted.request, .error_number = error_number}, answer);
}
void refuse_aside(const frame::OpenTunnel&, int error_number, const os::Fd& answer) {
  refuse_dial(error_number, answer);
}
void refuse_aside(const frame::StartWatch&, int error_number, const os::Fd& answer) {
  refuse_watch(error_number, answer);
}

// In a process of its own, because a file may be as slow or as large as the workload likes: a
// sibling, so that no program finds a child that it has not made. One that a workload stops at its
// birth keeps what we had open: our streams are for nobody after that.
template <class Wanted>
void serve_aside(const os::Fd& link, const Wanted& wanted, const os::Fd& answer,
                 std::optional<Streams>& streams) {
  const long child = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0UL);
  const int error_number = errno;
  streams.reset();
  if (child > 0) return;
  if (child < 0) return refuse_aside(wanted, error_number, answer);
  ::close(link.get());
  act_aside(wanted, answer);
  ::_exit(0);
}

void descend_or_end(const os::Fd& link, std::span<const Step> steps, const Descent& descent) {
  if (const auto failure = descend(steps, descent)) {
    end(link, ReportKind::fallen, failure->step, failure->error_number);
  }
}

struct Awaited {
  frame::Fences fences;
  bool are_usual = false;
};

// Those that pid 1 has sent, or the end.
Awaited await_fences(const os::Fd& link) {
  const Request request = receive(link);
  auto decoded = frame::decode_to_guest(as_bytes(request.body));
  auto* const setup = decoded ? std::get_if<frame::Setup>(&*decoded) : nullptr;
  const bool are_usual = request.ask == Ask::usual;
  if ((!are_usual && request.ask != Ask::fences) || setup == nullptr)
    end(link, ReportKind::fallen, "fences", EBADMSG);
  return {.fences = std::move(setup->fences), .are_usual = are_usual};
}

void await_tree(const os::Fd& link) {
  if (receive(link).ask != Ask::go) end(link, ReportKind::fallen, "tree", EBADMSG);
}

// Says so, with our ends of the next program's streams beside it.
Streams tell_with_streams(const os::Fd& link, ReportKind kind) {
  auto pipes = make_pipes();
  if (!pipes) end(link, ReportKind::fallen, "streams", pipes.error().cause().value());
  report(link, {.kind = kind}, pipes->ours);
  pipes->ours.clear();
  return *std::move(pipes);
}

// Behind the fences of most plans: what is left is to lower the limits to the plan's own.
Streams await_plan(const os::Fd& link, FilterLookup find_filter) {
  Streams streams = tell_with_streams(link, ReportKind::behind);
  const Awaited own = await_fences(link);
  descend_or_end(link, kToOwnLimits, {.fences = own.fences, .find_filter = find_filter});
  await_tree(link);
  report(link, {.kind = ReportKind::ready});
  return streams;
}

[[noreturn]] void serve(const os::Fd& link, std::optional<Streams> streams) {
  while (true) {
    Request request = receive(link);
    const auto wanted = frame::decode_to_guest(as_bytes(request.body));
    if (!wanted) end(link, ReportKind::failed, "request", EBADMSG);
    if (const auto* to_start = std::get_if<frame::Start>(&*wanted)) {
      start(link, *to_start, std::move(streams));
    }
    if (!request.answer) continue;
    std::visit(
        [&](const auto& aside) {
          if constexpr (requires { act_aside(aside, request.answer); }) {
            serve_aside(link, aside, request.answer, streams);
          }
        },
        *wanted);
  }
}

}  // namespace

void be_spawner(os::Fd inherited, const frame::Fences* fences, FilterLookup find_filter,
                bool has_oom_score, const os::Fd* inherited_witness) {
  os::Fd witness;
  if (inherited_witness != nullptr) {
    // Out of the way of what comes to kLink.
    witness = os::Fd{::fcntl(inherited_witness->get(), F_DUPFD_CLOEXEC, kWitness + 1)};
    if (!witness) ::_exit(1);
  }
  if (inherited.get() != kLink && ::dup3(inherited.get(), kLink, O_CLOEXEC) < 0) ::_exit(1);
  static_cast<void>(inherited.release());
  const os::Fd link{kLink};
  if (witness) {
    if (::dup3(witness.get(), kWitness, O_CLOEXEC) < 0) ::_exit(1);
    witness = os::Fd{kWitness};
  }
  if (!os::close_from(witness ? kWitness + 1 : kLink + 1)) ::_exit(1);
  ::umask(022);
  const std::span<const Step> steps{kToSpawner};
  Awaited awaited;
  descend_or_end(
      link, steps.first(kBeforeFences),
      {.fences = awaited.fences, .find_filter = find_filter, .has_oom_score = has_oom_score});
  const bool ahead = fences == nullptr;
  if (ahead) awaited = await_fences(link);
  const frame::Fences& wanted = ahead ? awaited.fences : *fences;
  const Descent descent{.fences = wanted,
                        .find_filter = find_filter,
                        .one_id = wanted.uid == ::getuid(),
                        .witness = witness ? &witness : nullptr};
  descend_or_end(link, steps.subspan(kBeforeFences, kBeforeTree - kBeforeFences), descent);
  if (ahead && !awaited.are_usual) await_tree(link);
  descend_or_end(link, steps.subspan(kBeforeTree), descent);
  witness = os::Fd{};
  serve(link, awaited.are_usual ? await_plan(link, find_filter)
                                : tell_with_streams(link, ReportKind::ready));
}

}  // namespace cordon::guest
