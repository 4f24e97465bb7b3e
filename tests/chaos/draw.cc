// SPDX-License-Identifier: Apache-2.0
#include "draw.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <climits>

#include "interesting.h"

namespace chaos {
namespace {

constexpr std::size_t kMemory = std::size_t{256} << 10U;
constexpr std::size_t kGap = std::size_t{16} << 20U;

}  // namespace

Things::Things(Random& random, std::span<char* const> outside, int generator)
    : random_{random}, generator_{generator} {
  paths_.assign(kPaths.begin(), kPaths.end());
  for (char* const path : outside) paths_.insert(paths_.end(), 6, path);
  open_descriptors();
  // What a call writes past its end meets a gap, and not the memory of somebody who counts.
  void* const memory =
      ::mmap(nullptr, kMemory + kGap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || ::mprotect(memory, kMemory, PROT_READ | PROT_WRITE) != 0) return;
  memory_ = {static_cast<std::uint64_t*>(memory), kMemory / sizeof(std::uint64_t)};
  fill_memory();
}

void Things::open_descriptors() {
  fds_ = {0, 1, 2, AT_FDCWD};
  const auto keep = [this](int fd) {
    if (fd >= 0) fds_.push_back(fd);
  };
  for (const char* path : {".", "/", "/tmp", "/proc/self", "/proc/1", "/proc/self/ns/user"}) {
    keep(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  }
  for (const char* path : {"file", "/tmp/file", "/dev/null", "/dev/zero", "/dev/ptmx"}) {
    keep(::open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600));
  }
  std::array<int, 2> pair{-1, -1};
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) == 0)
      std::ranges::for_each(pair, keep);
  }
  if (::pipe2(pair.data(), O_CLOEXEC | O_NONBLOCK) == 0) std::ranges::for_each(pair, keep);
  keep(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  keep(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  keep(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  keep(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  keep(::epoll_create1(EPOLL_CLOEXEC));
  keep(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  keep(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  keep(::memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  keep(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
}

// Words of every kind, so that some of it is a path, a vector of buffers or a header of a message.
void Things::fill_memory() {
  for (std::uint64_t& each : memory_) each = word();
}

unsigned long Things::number_like() {
  switch (random_.below(6)) {
    case 0:
      return 1UL << random_.below(64);
    case 1:
      return 1UL << random_.below(32) | 1UL << random_.below(32);
    case 2:
      return (1UL << random_.below(64)) - 1;
    case 3:
      return random_.below(4096);
    case 4:
      return random_.next();
    default:
      return random_.next() & 0xFFFFFFFFU;
  }
}

unsigned long Things::word() {
  switch (random_.below(16)) {
    case 0:
    case 1:
    case 2:
      return random_.below(20) - 2;
    case 3:
      return 0;
    case 4:
    case 5:
      return number_like();
    case 6:
    case 7:
    case 8:
      return static_cast<unsigned long>(fds_[random_.below(fds_.size())]);
    case 9:
    case 10:
    case 11:
      if (memory_.empty()) return 0;
      // NOLINTNEXTLINE(*-reinterpret-cast): an argument is a word
      return reinterpret_cast<unsigned long>(&memory_[random_.below(memory_.size() / 8) * 8]);
    case 12:
    case 13:
      // NOLINTNEXTLINE(*-reinterpret-cast)
      return reinterpret_cast<unsigned long>(paths_[random_.below(paths_.size())]);
    case 14: {
      const std::array<int, 6> processes{0, 1, 2, -1, ::getpid(), ::getppid()};
      return static_cast<unsigned long>(processes[random_.below(processes.size())]);
    }
    default:
      return random_.below(2) == 0 ? 4096 : INT_MAX;
  }
}

Call Things::draw() {
  for (;;) {
    Call call{.number = random_.below(2) == 0 ? kFenced[random_.below(kFenced.size())]
                                              : static_cast<long>(random_.below(kLastNumber + 1))};
    std::ranges::generate(call.words, [this] { return word(); });
    if (!ends_the_generator(call)) return call;
  }
}

// Everything else may happen to it too, and it does not mind.
bool Things::ends_the_generator(const Call& call) const {
  if (std::ranges::find(kOnProcesses, call.number) == kOnProcesses.end()) return false;
  return std::ranges::any_of(call.words, [this](unsigned long word) {
    const int pid = static_cast<int>(word);
    return pid == generator_ || pid == -generator_ || pid == -1;
  });
}

}  // namespace chaos
