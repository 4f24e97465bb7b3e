// SPDX-License-Identifier: Apache-2.0
#include "launcher/own_program.h"

#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "launcher/program.h"
#include "os/capability.h"
#include "os/identity.h"
#include "os/prctl.h"

namespace cordon::launcher {
namespace {

constexpr int kFirst = 3;
constexpr int kHigh = 16;  // out of the way of the numbers that they are to have

// The caller's terminal and pipes are not its business.
Status shut_standard(bool keep_error) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < (keep_error ? STDERR_FILENO : kFirst); ++standard) {
    if (nothing < 0 || ::dup2(nothing, standard) < 0) return Error::from_errno("/dev/null");
  }
  return {};
}

// Gives the number behind the last of them, where the program itself lies.
Result<int> place(const os::Fd& program, std::span<const os::Fd* const> fds) {
  std::vector<int> high;
  for (const os::Fd* fd : fds) high.push_back(::fcntl(fd->get(), F_DUPFD, kHigh));
  const int image = ::fcntl(program.get(), F_DUPFD_CLOEXEC, kHigh);
  int number = kFirst;
  for (const int fd : high) {
    if (fd < 0 || ::dup2(fd, number++) < 0) return Error::from_errno("dup2");
  }
  if (image < 0 || ::dup3(image, number, O_CLOEXEC) < 0) return Error::from_errno("dup3");
  TRY_DO(os::close_from(static_cast<unsigned>(number) + 1));
  return number;
}

Status take_id(std::uint32_t user, std::uint32_t group) {
  TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(group));
  return os::set_user(user);
}

// Returns where the program is to be executed.
Result<os::Fd> prepare(const os::Fd& file, const OwnProgram& program, pid_t launcher) {
  TRY_DO(shut_standard(program.is_own_master));
  TRY(const int at, place(file, program.fds));
  os::Fd image{at};
  // Also where its id is root's.
  if (program.is_own_master) TRY_DO(os::drop_bounding({}));
  if (program.id) TRY_DO(take_id(*program.id, program.group.value_or(*program.id)));
  if (::chdir("/") != 0) return Error::from_errno("chdir");
  TRY_DO(os::set_no_new_privs());
  if (program.is_own_master) return image;
  TRY_DO(os::set_parent_death_signal(SIGKILL));
  if (::getppid() != launcher) return Error{Errc::unavailable, "the launcher has ended"};
  return image;
}

}  // namespace

Result<os::Child> start_own_program(const OwnProgram& program,
                                    const std::function<void(const Error&)>& failed) {
  TRY(const os::Fd file, open_beside(program.arguments.front().c_str()));
  return os::Child::start({.clear_signal_handlers = true}, [&, launcher = ::getpid()] {
    const auto image = prepare(file, program, launcher);
    const Error why =
        image ? os::execveat(*image, program.arguments, program.environment) : image.error();
    failed(Error{why}.with(program.arguments.front()));
    return 125;
  });
}

}  // namespace cordon::launcher
