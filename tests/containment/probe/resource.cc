// SPDX-License-Identifier: Apache-2.0
// Group I: exhausting what is limited. Each act stops at a bound of its own, so that it harms
// nobody where no limit is.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

using Clock = std::chrono::steady_clock;

// `--count N` processes, which is more than the limit.
void fork_bomb(const Words& words, Findings& out) {
  const long wanted = words.number("count", 200);
  std::vector<pid_t> made;
  Answer last{0, 0};
  while (static_cast<long>(made.size()) < wanted) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      for (;;) (void)::pause();
    }
    last = answer(child);
    if (child < 0) break;
    made.push_back(child);
  }
  for (const pid_t each : made) (void)::kill(each, SIGKILL);
  for (const pid_t each : made) (void)::waitpid(each, nullptr, 0);
  out.refused("process " + std::to_string(made.size() + 1) + " of " + std::to_string(wanted), last,
              {EAGAIN});
}

void fill_disk(const Words& words, Findings& out) {
  const long wanted = words.number("bytes", 96L << 20U);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const std::vector<char> block(1 << 20, 'x');
  std::vector<std::string> places = words.list("places");
  if (places.empty()) places = {"."};
  for (const std::string& place : places) {
    const std::string path = place + "/.fill";
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) continue;
    Answer last{0, 0};
    long done = 0;
    while (done < wanted && !last.failed()) {
      last = answer(::write(fd, block.data(), block.size()));
      if (!last.failed()) done += last.value;
    }
    out.refused(place + " takes " + std::to_string(done >> 20U) + " MiB", last,
                {ENOSPC, EDQUOT, EFBIG});
    ::close(fd);
    (void)::unlink(path.c_str());
  }
}

void fill_inodes(const Words& words, Findings& out) {
  const long wanted = words.number("count", 20000);
  const std::string place = words.get("place", "/tmp") + "/inodes";
  if (::mkdir(place.c_str(), 0700) != 0 && errno != EEXIST)
    return out.refused("mkdir", answer(-1), {ENOSPC, EDQUOT, EROFS});
  Answer last{0, 0};
  long made = 0;
  for (; made < wanted && !last.failed(); ++made) {
    last = try_open(place + "/" + std::string(200, 'n') + std::to_string(made), O_CREAT | O_WRONLY);
  }
  out.refused("file " + std::to_string(made), last, {ENOSPC, EDQUOT, ENOMEM});
}

void sparse(const Words& words, Findings& out) {
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const int fd =
      ::open((words.get("place", "/tmp") + "/sparse").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return out.skip("no place: " + name_of_error(errno));
  const Answer huge = answer(::ftruncate(fd, 1L << 50U));
  struct stat about{};
  (void)::fstat(fd, &about);
  out.holds("a huge file takes no blocks", huge.failed() || about.st_blocks < 16,
            std::to_string(about.st_blocks) + " blocks");
  struct statvfs room{};
  (void)::fstatvfs(fd, &room);
  const auto more = static_cast<off_t>((room.f_blocks + 1) * room.f_frsize);
  out.refused("allocating more than there is", answer(::fallocate(fd, 0, 0, more)),
              {ENOSPC, EDQUOT, EFBIG, EOPNOTSUPP, ENOMEM});
  ::close(fd);
  (void)::unlink((words.get("place", "/tmp") + "/sparse").c_str());
}

void descriptors(const Words& words, Findings& out) {
  const long most = words.number("most", 4096);
  long opened = 0;
  Answer last{0, 0};
  while (opened <= most) {
    last = answer(::eventfd(0, EFD_CLOEXEC));
    if (last.failed()) break;
    ++opened;
  }
  out.refused("descriptor " + std::to_string(opened + 1), last, {EMFILE});
  const rlimit more{1 << 20, 1 << 20};
  out.refused("raise the limit", answer(::setrlimit(RLIMIT_NOFILE, &more)), {EPERM});
}

std::size_t zombies() {
  std::size_t count = 0;
  for (const std::string& pid : pids()) {
    const std::string text = read_text("/proc/" + pid + "/stat");
    const std::size_t end = text.rfind(')');
    if (end != std::string::npos && text.substr(end).starts_with(") Z 1 ")) ++count;
  }
  return count;
}

void zombie_farm(const Words& words, Findings& out) {
  const long wanted = words.number("count", 200);
  // Orphans are the first process's to reap.
  for (int i = 0; i < 100; ++i) {
    (void)in_child([] {
      if (::fork() == 0) ::_exit(0);
      return 0;
    });
  }
  for (int i = 0; i < 20 && zombies() > 0; ++i) ::usleep(100'000);
  out.holds("orphans are reaped", zombies() == 0, std::to_string(zombies()) + " zombies");
  Answer last{0, 0};
  long made = 0;
  for (; made < wanted && !last.failed(); ++made) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    last = answer(child);
  }
  out.refused("unreaped child " + std::to_string(made), last, {EAGAIN});
}

// All cores for `--seconds`; the CPU time taken, in hundredths of the wall time, is at most
// `--percent`.
void spin(const Words& words, Findings& out) {
  const auto seconds = std::chrono::seconds{words.number("seconds", 2)};
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([=] {
      while (Clock::now() - start < seconds) {
      }
    });
  }
  for (std::thread& each : threads) each.join();
  const std::chrono::duration<double> wall = Clock::now() - start;
  timespec cpu{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  const double used = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) / 1e9;
  const long percent = static_cast<long>(100 * used / wall.count());
  out.holds("processor time", percent <= words.number("percent", 105),
            std::to_string(percent) + " %");
}

void sync_storm(const Words& words, Findings& out) {
  const auto until = Clock::now() + std::chrono::seconds{words.number("seconds", 2)};
  const int fd = ::open("storm", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return out.skip("no place: " + name_of_error(errno));
  const std::vector<char> block(1 << 16, 'x');
  long rounds = 0;
  for (; Clock::now() < until; ++rounds) {
    (void)!::pwrite(fd, block.data(), block.size(), (rounds % 64) << 16U);
    (void)::fsync(fd);
    (void)::syncfs(fd);
  }
  ::close(fd);
  (void)::unlink("storm");
  out.holds("rounds", true, std::to_string(rounds));
}

void outlast(const Words& words, Findings& out) {
  for (const int each : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) (void)std::signal(each, SIG_IGN);
  const auto until = Clock::now() + std::chrono::seconds{words.number("hold", 20)};
  while (Clock::now() < until) ::usleep(50'000);
  out.holds("outlasted its time", false, "to the end");
}

void flood(const Words& words, Findings& out) {
  const long wanted = words.number("bytes", 64L << 20U);
  const std::vector<char> block(1 << 16, words.has("lines") ? '\n' : 'x');
  long done = 0;
  while (done < wanted) {
    const ssize_t wrote = ::write(STDERR_FILENO, block.data(), block.size());
    if (wrote < 0) break;
    done += wrote;
  }
  out.refused(std::to_string(done >> 20U) + " MiB written", Answer{done < wanted ? -1L : 0L, EPIPE},
              {EPIPE});
}

void kernel_queues(const Words&, Findings& out) {
  constexpr long kMany = 200'000;
  long timers = 0;
  Answer last{0, 0};
  for (; timers < kMany && !last.failed(); ++timers) {
    timer_t timer{};
    sigevent event{};
    event.sigev_notify = SIGEV_NONE;
    last = answer(::timer_create(CLOCK_MONOTONIC, &event, &timer));
  }
  out.refused("timer " + std::to_string(timers), last, {EAGAIN, ENOMEM});
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGRTMIN);
  (void)::sigprocmask(SIG_BLOCK, &set, nullptr);
  long queued = 0;
  last = {0, 0};
  for (; queued < kMany && !last.failed(); ++queued)
    last = answer(::sigqueue(::getpid(), SIGRTMIN, {}));
  out.refused("queued signal " + std::to_string(queued), last, {EAGAIN});
  const rlimit queues{1UL << 40U, 1UL << 40U};
  out.refused("raise RLIMIT_MSGQUEUE", answer(::setrlimit(RLIMIT_MSGQUEUE, &queues)), {EPERM});
}

void many_sockets(const Words& words, Findings& out) {
  const long most = words.number("most", 4096);
  long opened = 0;
  Answer last{0, 0};
  while (opened <= most) {
    last = answer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (last.failed()) break;
    ++opened;
  }
  out.refused("socket " + std::to_string(opened + 1), last, {EMFILE, ENFILE});
  for (int fd = 3; fd < 16; ++fd) ::close(fd);
  const int udp = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_in away{.sin_family = AF_INET,
                         .sin_port = htons(9),
                         .sin_addr = {htonl(0xc6336401)}};  // 198.51.100.1
  const Answer sent =
      answer(::sendto(udp, "x", 1, 0, reinterpret_cast<const sockaddr*>(&away), sizeof away));
  out.refused("a datagram to the outside", sent, {ENETUNREACH, EPERM, EHOSTUNREACH, EACCES});
}

void crash_loop(const Words& words, Findings& out) {
  const long times = words.number("count", 200);
  // A page that may not be read: a real fault, of which the kernel may write a line.
  void* const closed = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (long i = 0; i < times; ++i) {
    (void)in_child([=] {
      (void)std::signal(SIGSEGV, SIG_DFL);
      return static_cast<int>(*static_cast<volatile char*>(closed));
    });
  }
  (void)::munmap(closed, 4096);
  out.holds("crashes", true, std::to_string(times));
}

constexpr Row kRows[] = {
    {"C114", fork_bomb},   {"C118", fill_disk},   {"C119", fill_inodes},   {"C120", sparse},
    {"C121", descriptors}, {"C122", zombie_farm}, {"C123", spin},          {"C124", sync_storm},
    {"C125", outlast},     {"C126", flood},       {"C128", kernel_queues}, {"C129", many_sockets},
    {"C133", crash_loop},
};

}  // namespace

std::span<const Row> resource_rows() { return kRows; }

}  // namespace cordon::probe
