// SPDX-License-Identifier: Apache-2.0
// Three pipes, or a terminal.
#include <cerrno>
#include <sys/ioctl.h>
#include <termios.h>

#include "guest/herald.h"
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

Result<std::string> name_of_slave(const os::Fd& master) {
  unsigned number = 0;
  if (::ioctl(master.get(), TIOCGPTN, &number) != 0) return Error::from_errno("TIOCGPTN");
  return "/dev/pts/" + std::to_string(number);
}

// By the master and not by a name: /dev/pts may show another one. gVisor knows names only, and has
// one /dev/pts over which nobody mounts.
Result<os::Fd> open_slave(const os::Fd& master) {
  constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;
  const int slave = ::ioctl(master.get(), TIOCGPTPEER, kFlags);
  if (slave >= 0) return os::Fd{slave};
  if (errno != ENOTTY) return Error::from_errno("TIOCGPTPEER");
  TRY(const std::string name, name_of_slave(master));
  return os::openat(os::at_cwd(), name.c_str(), kFlags);
}

Status call_herald(Streams& streams, const os::Fd& master) {
  TRY(streams.slave, name_of_slave(master));
  TRY(os::Pipe orders, os::pipe2());
  TRY_DO(os::set_nonblocking(orders.write, true));
  streams.orders = std::move(orders.read);
  streams.ours.push_back(std::move(orders.write));
  return {};
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
  const bool herald = needs_herald(master);
  streams.ours.push_back(std::move(master));
  if (herald) TRY_DO(call_herald(streams, streams.ours.front()));
  return streams;
}

}  // namespace cordon::guest
