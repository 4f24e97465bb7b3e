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

Result<Streams> make_terminal(const frame::WindowSize& size) {
  TRY(os::Fd master, os::openat(os::at_cwd(), "/dev/ptmx", O_RDWR | O_NONBLOCK));
  int locked = 0;
  if (::ioctl(master.get(), TIOCSPTLCK, &locked) != 0) return Error::from_errno("TIOCSPTLCK");
  const winsize window{.ws_row = size.rows, .ws_col = size.columns};
  if (::ioctl(master.get(), TIOCSWINSZ, &window) != 0) return Error::from_errno("TIOCSWINSZ");
  // By the master and not by a name: /dev/pts may show another one.
  const int slave = ::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) return Error::from_errno("TIOCGPTPEER");
  Streams streams{.in = os::Fd{slave}, .terminal = true};
  TRY(streams.out, os::duplicate(streams.in));
  TRY(streams.err, os::duplicate(streams.in));
  streams.ours.push_back(std::move(master));
  return streams;
}

}  // namespace cordon::guest
