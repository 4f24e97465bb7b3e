// SPDX-License-Identifier: Apache-2.0
// Loaded before a program's libraries: its clock of the wall goes by as many seconds before or
// after as the file that CORDON_SHIFTED_CLOCK names says, at any time. Other clocks are as they
// are.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

const volatile std::int64_t* shift = nullptr;

__attribute__((constructor)) void look() {
  const char* const path = std::getenv("CORDON_SHIFTED_CLOCK");
  if (path == nullptr) return;
  // Before the program gives up the right to open files.
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* const mapped = ::mmap(nullptr, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) shift = static_cast<const volatile std::int64_t*>(mapped);
  ::close(fd);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* into) noexcept {
  const auto got = static_cast<int>(::syscall(SYS_clock_gettime, clock, into));
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (got == 0 && is_wall && shift != nullptr) into->tv_sec += *shift;
  return got;
}

int gettimeofday(timeval* into, void* /*zone*/) noexcept {
  timespec now{};
  const int got = clock_gettime(CLOCK_REALTIME, &now);
  *into = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return got;
}

time_t time(time_t* into) noexcept {
  timespec now{};
  static_cast<void>(clock_gettime(CLOCK_REALTIME, &now));
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}
}
