// SPDX-License-Identifier: Apache-2.0
// One connection from the host to a port inside: bytes both ways, each within its window.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::guest {

// The other end is a program of the sandbox's, and so may be whoever else holds the socket: nothing
// that they do to it makes us wait.
class Tunnel {
 public:
  Tunnel(std::uint32_t number, std::uint64_t answer_tag, std::uint64_t tag) noexcept
      : number_{number}, answer_tag_{answer_tag}, tag_{tag} {}

  // Gives the end to which whoever connects sends the socket, or an error number.
  Result<os::Fd> await(const os::Epoll& epoll);
  // The answer is there.
  void hear_answer(const os::Epoll& epoll);
  // The socket is ready.
  void move(const os::Epoll& epoll);

  // From the host. `invalid`: more than the window, after its end, or before there is a connection.
  Status give(const os::Epoll& epoll, std::string_view bytes);
  void end_input(const os::Epoll& epoll);
  Status confirm(const os::Epoll& epoll, std::uint64_t count);
  void close(const os::Epoll& epoll);

  // Appends one frame of each kind that is owed. False: nothing was.
  bool append_owed(std::vector<std::byte>& out);
  // Nothing is owed any more, nor will be.
  bool is_over() const noexcept;

 private:
  void fail(const os::Epoll& epoll, int error_number);
  void read(const os::Epoll& epoll);
  void write(const os::Epoll& epoll);
  void watch(const os::Epoll& epoll);

  std::uint32_t number_;
  std::uint64_t answer_tag_;
  std::uint64_t tag_;
  os::Fd answer_;
  os::Fd socket_;
  std::uint32_t watched_ = 0;
  bool opened_owed_ = false;
  int failure_ = 0;
  bool failure_owed_ = false;
  bool failed_ = false;

  // To the program.
  std::string in_;  // not written yet
  std::uint64_t written_ = 0;
  std::uint64_t written_told_ = 0;
  bool in_ended_ = false;  // by the host
  bool shut_ = false;      // and so for the program

  // To the host.
  std::string out_;         // not sent yet
  std::uint64_t read_ = 0;  // in all
  std::uint64_t confirmed_ = 0;
  bool out_ended_ = false;
  bool end_owed_ = false;
};

}  // namespace cordon::guest
