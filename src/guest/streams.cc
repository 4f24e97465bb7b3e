// SPDX-License-Identifier: Apache-2.0
// Three pipes, or a terminal.
#include <cerrno>
#include <sys/ioctl.h>
#include <termios.h>

#include "guest/program.h"
#include "os/file.h"

namespace cordon::guest {

Result<Streams> make_pipes() {
  TRY(os::Pipe in, os::pipe2());
  TRY(os::Pipe out, os::pipe2());
  TRY(os::Pipe err, os::pipe2());
  Streams streams{
      .in = std::move(in.read), .out = std::move(out.write), .err = std::move(err.write)};
  for (os::Fd* end : {&in.write, &out.read, &err.read}) {
    TRY_DO(os::set_nonblocking(*end, true));
    streams.ours.push_back(std::move(*end));
  }
  return streams;
}

namespace {

// By the master and not by a name: /dev/pts may show another one. gVisor knows names only, and has
// one /dev/pts over which nobody mounts.
Result<os::Fd> open_slave(const os::Fd& master) {
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
  const int slave = ::ioctl(master.get(), TIOCGPTPEER, kFlags);
  if (slave >= 0) return os::Fd{slave};
  unsigned number = 0;
  if (errno != ENOTTY || ::ioctl(master.get(), TIOCGPTN, &number) != 0) {
    return Error::from_errno("TIOCGPTPEER");
  }
  return os::openat(os::at_cwd(), ("/dev/pts/" + std::to_string(number)).c_str(), kFlags);
}

}  // namespace

Result<Streams> make_terminal(const frame::WindowSize& size) {
  TRY(os::Fd master, os::openat(os::at_cwd(), "/dev/ptmx", O_RDWR | O_NONBLOCK));
  int locked = 0;
  if (::ioctl(master.get(), TIOCSPTLCK, &locked) != 0) return Error::from_errno("TIOCSPTLCK");
  const winsize window{.ws_row = size.rows, .ws_col = size.columns};
  if (::ioctl(master.get(), TIOCSWINSZ, &window) != 0) return Error::from_errno("TIOCSWINSZ");
  TRY(os::Fd slave, open_slave(master));
  Streams streams{.in = std::move(slave), .terminal = true};
  TRY(streams.out, os::duplicate(streams.in));
  TRY(streams.err, os::duplicate(streams.in));
  streams.ours.push_back(std::move(master));
  return streams;
}

}  // namespace cordon::guest
