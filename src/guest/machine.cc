// SPDX-License-Identifier: Apache-2.0
#include "guest/machine.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/bytes.h"
#include "frame/guest.h"
#include "guest/carry_files.h"
#include "guest/error_number.h"
#include "guest/guest.h"
#include "guest/machine_devices.h"
#include "guest/machine_recorder.h"
#include "guest/machine_tree.h"
#include "guest/oom_kills.h"
#include "guest/ready_memory.h"
#include "guest/tell_acts.h"
#include "guest/wake.h"
#include "os/file.h"
#include "os/process.h"
#include "os/random.h"
#include "os/rlimit.h"
#include "os/socket.h"
#include "os/steering.h"

namespace cordon::guest {
namespace {

constexpr std::uint64_t kMostOpenFiles = 524'288;
// Whose memory ends is told by us: our kernel takes a workload first, also one that holds it in
// buffers which are nobody's. Not never: one that lowers its own score as far is still found.
constexpr std::string_view kOwnOomScore = "-900";
// Of so long a while the machine is to have had nothing to do for most; of so many whiles one.
constexpr std::chrono::milliseconds kWhile{150};
constexpr double kMostOfIt = 0.11;  // seconds
constexpr int kMostWhiles = 40;

Status tell_failure(const os::Fd& port, const char* step, const Error& error) {
  const auto bytes = encode(
      frame::FromGuest{frame::Failed{.process = 0,
                                     .step = std::string{"machine: "} + step + ": " + error.text(),
                                     .error_number = number_of(error)}});
  return os::write_all(port, as_text(bytes));
}

// A frame, and not a byte more: what follows is the guest's.
Status read_exactly(const os::Fd& port, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::read(port.get(), into.data(), into.size());
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
      continue;
    }
    // 0: nobody is at the far end, yet or for a moment.
    if (got < 0 && errno != EAGAIN) return Error::from_errno("read");
    pollfd news{.fd = port.get(), .events = POLLIN, .revents = 0};
    if (::poll(&news, 1, -1) > 0 && (news.revents & POLLIN) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  return {};
}

template <class Said>
Result<Said> await(const os::Fd& port) {
  std::uint32_t length = 0;
  TRY_DO(read_exactly(port, std::as_writable_bytes(std::span{&length, 1})));
  if (length == 0 || length > frame::kLongestGuestFrame) return Error{Errc::invalid, "no frame"};
  std::vector<std::byte> body(length);
  TRY_DO(read_exactly(port, body));
  TRY(auto heard, frame::decode_to_guest(body));
  auto* const said = std::get_if<Said>(&heard);
  if (said == nullptr) return Error{Errc::invalid, "the first frame is another"};
  return std::move(*said);
}

// Between us and the guest, which stands before we know what it is for.
struct Ways {
  os::SocketPair orders;
  os::SocketPair told;  // its control stream, where somebody stands in front of it
};

Status enter_sandbox() {
  TRY(const os::Fd group, os::openat(os::at_cwd(), kGroupProcesses, O_WRONLY));
  TRY_DO(enter_machine_tree());
  // What we did for it is none of its acts.
  return os::write_all(group, "0");
}

Result<Control> control_of(const os::Fd& stream) {
  TRY(os::Fd in, os::duplicate(stream));
  TRY(os::Fd out, os::duplicate(stream));
  TRY_DO(os::set_nonblocking(stream, true));
  return Control{std::move(in), std::move(out)};
}

// Whether somebody stands in front of it.
Result<bool> await_orders(const os::Fd& orders) {
  TRY_DO(os::write_all(orders, "s"));
  std::uint8_t is_traced = 0;
  TRY_DO(read_exactly(orders, std::as_writable_bytes(std::span{&is_traced, 1})));
  return is_traced != 0;
}

// In a pid and mount namespace of its own: signals to everybody end where the files are served.
[[noreturn]] void be_guest(const os::Fd& port, Ways ways, const frame::Setup* usual) {
  ways.orders.one = os::Fd{};
  ways.told.one = os::Fd{};
  const Status stands = enter_sandbox();
  auto alone = control_of(port);
  if (!stands || !alone) {
    const auto is_traced = await_orders(ways.orders.two);
    const os::Fd& control = is_traced && *is_traced ? ways.told.two : port;
    static_cast<void>(tell_failure(control, "tree", stands ? alone.error() : stands.error()));
    ::_exit(1);
  }
  const auto await_control = [&]() -> Result<Control> {
    if (usual != nullptr) ready_memory();
    TRY(const bool is_traced, await_orders(ways.orders.two));
    return is_traced ? control_of(ways.told.two) : std::move(alone);
  };
  const GuestOptions options{.own_kernel = true, .usual = usual, .await_control = await_control};
  ::_exit(static_cast<int>(run(Control{os::Fd{}}, options)));
}

// Gives it when it waits for orders: until then we serve it the little that it asks of the tree.
Result<os::Cloned> start_guest(const os::Fd& port, FileCarrier& files, Ways& ways,
                               const frame::Setup* usual) {
  TRY(ways.orders, os::socketpair(os::SocketType::stream));
  TRY(ways.told, os::socketpair(os::SocketType::stream));
  TRY(os::Cloned guest, os::clone3({.namespaces = os::NsSet{os::Ns::pid, os::Ns::mount}}));
  if (guest.pid == 0) be_guest(port, std::move(ways), usual);
  ways.orders.two = os::Fd{};
  ways.told.two = os::Fd{};
  TRY_DO(files.carry(ways.orders.one));
  std::byte staged{};
  TRY_DO(read_exactly(ways.orders.one, {&staged, 1}));
  return guest;
}

// One behind the port that ends after the guest, when all is told.
Result<os::Cloned> start_teller(const os::Fd& port, const os::Fd& guest,
                                Result<MachineRecorder> recorder) {
  if (!recorder) return std::move(recorder).error();
  TRY_DO(recorder->watch(kGroup));
  TRY_DO(os::set_nonblocking(guest, true));
  TRY(os::Cloned teller, os::clone3({.clear_signal_handlers = true}));
  if (teller.pid == 0) {
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    ::_exit(tell_acts(*recorder, guest, port) ? 0 : 1);
  }
  return teller;
}

// Whom we started: the guest, and who stands in front of it.
bool was_one_killed() {
  int status = 0;
  while (::waitpid(-1, &status, WNOHANG) > 0) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
  }
  return false;
}

// Of one that will be saved before anybody knows whether it is wanted.
bool will_be_saved() {
  const auto words = os::read_file(os::at_cwd(), "/proc/cmdline");
  return words && words->find(frame::kSavedWord) != std::string::npos;
}

double idle_seconds() {
  const auto text = os::read_file(os::at_cwd(), "/proc/uptime");
  const std::size_t second = text ? text->find(' ') : std::string::npos;
  return second == std::string::npos ? 0 : std::strtod(text->c_str() + second, nullptr);
}

// What is still under way when it is saved, each that begins as this one would do again. What the
// guest asks of the tree on its way is answered: it would wait for that in each.
Status settle(FileCarrier& files) {
  for (int whiles = 0; whiles < kMostWhiles; ++whiles) {
    const double before = idle_seconds();
    TRY_DO(files.carry_for(kWhile));
    if (idle_seconds() - before > kMostOfIt) return {};
  }
  return {};
}

Status begin(os::Fd& control) {
  TRY_DO(mount_kernel_files());
  // A kernel begins with 4096; what a sandbox may have its policy says.
  TRY_DO(os::set_rlimit(os::Rlimit::open_files, {.soft = 1024, .hard = kMostOpenFiles}));
  TRY_DO(os::write_file(os::at_cwd(), "/proc/self/oom_score_adj", kOwnOomScore));
  TRY_DO(load_modules());
  TRY(control, open_port("cordon.control"));
  TRY(os::Fd port, open_port("cordon.files"));
  end_before_thrashing();
  const bool is_saved = will_be_saved();
  std::optional<Result<MachineRecorder>> recorder;
  std::optional<frame::Setup> usual;
  if (is_saved) {
    recorder.emplace(MachineRecorder::load());
    TRY(usual, await<frame::Setup>(control));
  }
  TRY_DO(os::join_as_guest(""));
  TRY_DO(make_group());
  TRY(os::Fd fuse, mount_tree());
  FileCarrier files{std::move(fuse), std::move(port)};
  Ways ways;
  TRY(os::Cloned last, start_guest(control, files, ways, usual ? &*usual : nullptr));
  TRY(const os::Fd random, os::open_random());
  if (is_saved) {
    // Waits until the kernel's generator has gathered enough for its own beginning, of which it
    // makes much: it would come to that in each.
    std::array<std::byte, 1> drawn{};
    TRY_DO(os::getrandom(drawn));
    ready_memory();
    TRY_DO(settle(files));
  }
  TRY_DO(os::write_all(control, as_text(encode(frame::FromGuest{frame::Ready{}}))));
  // From here on it may be one of many that began as this one.
  TRY(const frame::Wake wake, await<frame::Wake>(control));
  TRY_DO(become_unlike_others(wake, random));
  if (wake.traced) {
    if (!recorder) recorder.emplace(MachineRecorder::load());
    TRY(last, start_teller(control, ways.told.one, *std::move(recorder)));
    ways.told = {};
  }
  TRY_DO(os::write_all(ways.orders.one, as_text(std::as_bytes(std::span{&wake.traced, 1}))));
  TRY_DO(files.carry(last.pidfd));
  if (!was_one_killed()) return {};
  TRY(const OomKills kills, OomKills::open());
  if (kills.count() > 0) return Error::from_errno("memory", ENOMEM);
  return {};
}

}  // namespace

void be_machine() {
  os::Fd control;
  const Status done = begin(control);
  if (!done && control) static_cast<void>(tell_failure(control, "pid 1", done.error()));
  ::sync();
  ::reboot(RB_AUTOBOOT);  // its monitor takes that for the end
  for (;;) ::pause();
}

}  // namespace cordon::guest
