// SPDX-License-Identifier: Apache-2.0
// Group I, memory: every route by which a program can make the kernel hold bytes for it, up to a
// bound.
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

constexpr std::size_t kBlock = 1 << 20;

// Each route holds `bytes` and says how much it got before an error.
using Route = std::size_t (*)(std::size_t bytes, Answer& last);

std::size_t by_touching(std::size_t bytes, Answer& last) {
  std::size_t done = 0;
  for (; done < bytes; done += kBlock) {
    void* const at = ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) {
      last = answer(-1);
      break;
    }
    std::memset(at, 0x5a, kBlock);
  }
  return done;
}

std::size_t into_file(int fd, std::size_t bytes, Answer& last) {
  const std::vector<char> block(kBlock, 'x');
  std::size_t done = 0;
  while (done < bytes) {
    last = answer(::write(fd, block.data(), block.size()));
    if (last.failed()) break;
    done += static_cast<std::size_t>(last.value);
  }
  return done;
}

std::size_t by_path(const char* path, std::size_t bytes, Answer& last) {
  const int fd = ::open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  last = answer(fd);
  if (fd < 0) return 0;
  (void)::unlink(path);
  return into_file(fd, bytes, last);
}

std::size_t by_tmp(std::size_t bytes, Answer& last) { return by_path("/tmp/.memory", bytes, last); }
std::size_t by_shm(std::size_t bytes, Answer& last) {
  return by_path("/dev/shm/.memory", bytes, last);
}

std::size_t by_memfd(std::size_t bytes, Answer& last) {
  return into_file(::memfd_create("memory", MFD_CLOEXEC), bytes, last);
}

std::size_t by_segments(std::size_t bytes, Answer& last) {
  const int id = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  last = answer(id);
  if (id < 0) return 0;
  void* const at = ::shmat(id, nullptr, 0);
  (void)::shmctl(id, IPC_RMID, nullptr);
  if (reinterpret_cast<std::intptr_t>(at) == -1) return 0;
  std::memset(at, 0x5a, bytes);
  return bytes;
}

std::size_t by_pipes(std::size_t bytes, Answer& last) {
  std::size_t done = 0;
  while (done < bytes) {
    std::array<int, 2> ends{};
    last = answer(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK));
    if (last.failed()) break;
    const int size = ::fcntl(ends[1], F_SETPIPE_SZ, kBlock);
    const std::vector<char> block(static_cast<std::size_t>(size > 0 ? size : 65536), 'x');
    const ssize_t wrote = ::write(ends[1], block.data(), block.size());
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return done;
}

std::size_t by_sockets(std::size_t bytes, Answer& last) {
  std::size_t done = 0;
  const std::vector<char> block(1 << 14, 'x');
  while (done < bytes) {
    std::array<int, 2> ends{};
    last =
        answer(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()));
    if (last.failed()) break;
    for (ssize_t wrote = 0; (wrote = ::write(ends[0], block.data(), block.size())) > 0;) {
      done += static_cast<std::size_t>(wrote);
    }
  }
  return done;
}

// A name that does not exist is remembered as such: about 200 bytes of the kernel's for each.
std::size_t by_names(std::size_t bytes, Answer& last) {
  constexpr std::size_t kEntry = 192;
  std::size_t done = 0;
  (void)::mkdir("/tmp/names", 0700);
  for (std::size_t i = 0; done < bytes; ++i, done += kEntry * 4) {
    last = try_open("/tmp/names/" + std::string(180, 'n') + std::to_string(i), O_CREAT | O_WRONLY);
    if (last.failed()) break;
  }
  return done;
}

// One touched page in each 2 MiB: a page table of 4 KiB for each, besides the page.
std::size_t by_page_tables(std::size_t bytes, Answer& last) {
  constexpr std::size_t kStride = 2 << 20;
  std::size_t done = 0;
  for (; done < bytes; done += 8192) {
    void* const at = ::mmap(nullptr, kStride * 2, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
      last = answer(-1);
      break;
    }
    (void)::madvise(at, kStride * 2, MADV_NOHUGEPAGE);
    *(static_cast<volatile char*>(at) + kStride) = 1;
  }
  return done;
}

struct Named {
  std::string_view name;
  Route route;
};
constexpr Named kRoutes[] = {
    {"anonymous", by_touching}, {"tmp", by_tmp},           {"shm", by_shm},
    {"memfd", by_memfd},        {"segments", by_segments}, {"pipes", by_pipes},
    {"sockets", by_sockets},    {"names", by_names},       {"page-tables", by_page_tables}};

// `--route R --bytes B`, B being more than the limit. Who dies on the way says nothing at all: the
// driver then judges by the verdict.
void hold(const Words& words, Findings& out) {
  const std::string wanted = words.get("route", "anonymous");
  const auto bytes = static_cast<std::size_t>(words.number("bytes", 128L << 20U));
  for (const Named& each : kRoutes) {
    if (each.name != wanted) continue;
    Answer last{0, 0};
    const std::size_t got = each.route(bytes, last);
    const std::string seen = std::to_string(got >> 20U) + " MiB" +
                             (last.failed() ? ", then " + name_of_error(last.error) : "");
    out.holds(wanted + " is bounded", got < bytes, seen);
    return;
  }
  out.skip("no route " + wanted);
}

constexpr Row kRows[] = {{"C115", hold}, {"C116", hold}};

}  // namespace

std::span<const Row> memory_rows() { return kRows; }

}  // namespace cordon::probe
