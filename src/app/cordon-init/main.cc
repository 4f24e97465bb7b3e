// SPDX-License-Identifier: Apache-2.0
// cordon-init: pid 1 of every sandbox. The launcher has put the control stream at descriptor 3, and
// where somebody wants to be told of calls, the way to them at 4. `cordon-init stdio`: the stream
// is what standard input and output are, as behind a user-space kernel; `stdio-as-root`: it was
// started as root, and takes an id of its own first. `cordon-init probe`: says
// by its exit code what such a kernel lacks. `/init`: the first program of a virtual machine.
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <malloc.h>
#include <string_view>
#include <unistd.h>

#include "guest/guest.h"
#include "guest/init_id.h"
#include "guest/machine.h"
#include "guest/probe_kernel.h"
#include "os/directory.h"
#include "os/fd.h"
#include "os/process.h"

namespace {

namespace guest = cordon::guest;
namespace os = cordon::os;

constexpr int kControl = 3;
constexpr int kWitness = 4;
// What is larger than a page or two goes back to the kernel as soon as it is free.
constexpr int kLargest = 32 << 10;

guest::GuestEnd serve_socket() {
  // It executes nothing itself, and what it has is nobody else's.
  if (!os::set_cloexec_from(kControl)) return guest::GuestEnd::could_not_begin;
  const bool has_witness = ::fcntl(kWitness, F_GETFD) >= 0;
  const os::Fd witness{has_witness ? kWitness : -1};
  return guest::run(guest::Control{os::Fd{kControl}},
                    {.witness = has_witness ? &witness : nullptr});
}

guest::GuestEnd serve_stdio() {
  os::Fd in{::fcntl(0, F_DUPFD_CLOEXEC, kControl)};
  os::Fd out{::fcntl(1, F_DUPFD_CLOEXEC, kControl)};
  // A user-space kernel shows /proc/1/fd to others, and whoever has the id that owns the pipes
  // could open them anew. Those of another owner it could not.
  for (const os::Fd* end : {&in, &out}) {
    const auto shut = os::fchmod(*end, 0);
    if (!shut && shut.error().cause().value() != EPERM) return guest::GuestEnd::could_not_begin;
  }
  const os::Fd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  if (!in || !out || !null) return guest::GuestEnd::could_not_begin;
  for (const int standard : {0, 1, 2}) {
    if (::dup2(null.get(), standard) != standard) return guest::GuestEnd::could_not_begin;
  }
  if (!os::set_nonblocking(in, true) || !os::set_nonblocking(out, true)) {
    return guest::GuestEnd::could_not_begin;
  }
  return guest::run({std::move(in), std::move(out)}, {.first_program = true});
}

}  // namespace

int main(int count, char** words) {
  ::mallopt(M_MMAP_THRESHOLD, kLargest);
  ::mallopt(M_TRIM_THRESHOLD, kLargest);
  ::mallopt(M_TOP_PAD, 0);
  if (count > 0 && std::string_view{words[0]} == "/init" && ::getpid() == 1) guest::be_machine();
  const std::string_view word = count == 2 ? words[1] : "";
  if (word == "probe") return static_cast<int>(guest::probe_kernel());
  // At its end it kills all processes that it sees, and it shuts what it was given as its stream:
  // where it is not the first of its own namespace, those of somebody else.
  if (::getpid() != 1) return static_cast<int>(guest::GuestEnd::could_not_begin);
  if (word == "stdio-as-root" && !guest::leave_root()) {
    return static_cast<int>(guest::GuestEnd::could_not_begin);
  }
  return static_cast<int>(word.starts_with("stdio") ? serve_stdio() : serve_socket());
}
