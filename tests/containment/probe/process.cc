// SPDX-License-Identifier: Apache-2.0
// Group B, other processes: signals, memory, outliving the sandbox, other ways to start.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

constexpr int kLastPid = 65536;

// `--pid P` is a process of the host, of the same id where that can be.
void signals(const Words& words, Findings& out) {
  const auto pid = static_cast<pid_t>(words.number("pid", 0));
  if (pid == 0) return out.skip("no process of the host given");
  out.refused("kill", answer(::kill(pid, 0)), {ESRCH});
  out.refused("tgkill", call(SYS_tgkill, pid, pid, 0), {ESRCH});
  out.refused("pidfd_open", call(SYS_pidfd_open, pid, 0), {ESRCH, ENOSYS, EPERM, EINVAL});
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    out.refused("F_SETOWN", answer(::fcntl(ends[0], F_SETOWN, pid)), {ESRCH});
  }
  std::size_t alive = 0;
  for (pid_t each = 1; each <= kLastPid; ++each) {
    if (::kill(each, 0) == 0 || errno == EPERM) ++alive;
  }
  // Threads answer too where a process is asked for by number, so a little more than /proc shows.
  const std::size_t shown = pids().size() + 8;
  out.holds("processes that answer", alive <= shown, std::to_string(alive));
  // All that we may signal: the host's canary is to live on.
  (void)std::signal(SIGTERM, SIG_IGN);
  if (words.has("everyone")) (void)::kill(-1, SIGTERM);
}

// Our first ancestor that is no probe: what started us. 1 where /proc shows none.
pid_t starter() {
  pid_t pid = ::getppid();
  for (int depth = 0; pid > 1 && depth < 8; ++depth) {
    const std::string status = read_text("/proc/" + std::to_string(pid) + "/status");
    if (!status.starts_with("Name:\tprobe\n")) return pid;
    const std::size_t at = status.find("PPid:");
    pid = at == std::string::npos
              ? 1
              : static_cast<pid_t>(std::strtol(status.c_str() + at + 5, nullptr, 10));
  }
  return 1;
}

std::string line_of(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("\n" + key + ":");
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

// The kernel lets nobody inside end it; to ask for it at all is refused too: by the ids where they
// differ, else by Landlock, from ABI 6 on. Below that, what is sent must change nothing.
void signal_init(const Words& words, Findings& out) {
  constexpr long kKnowsSignals = 6;
  const std::string uid = line_of(read_text("/proc/1/status"), "Uid");
  const bool one_id = !uid.empty() && uid == line_of(read_text("/proc/self/status"), "Uid");
  if (!one_id || words.number("landlock-abi", kKnowsSignals) >= kKnowsSignals) {
    return out.refused("signal 1", answer(::kill(1, 0)), {EPERM});
  }
  for (const int number : {SIGSTOP, SIGKILL, SIGTERM, SIGHUP, SIGSEGV, SIGCHLD}) {
    (void)::kill(1, number);
    const std::string state = line_of(read_text("/proc/1/status"), "State");
    const bool lives =
        state.find("sleeping") != std::string::npos || state.find("running") != std::string::npos;
    out.holds("1 goes on after signal " + std::to_string(number), lives, state);
  }
}

// The processes that hold the sandbox, the first one and our starter, may have wider filters.
void memory_of_init(const Words& words, Findings& out) {
  const auto refused = {EACCES, EPERM, ENOENT, ESRCH};
  for (const pid_t pid : {pid_t{1}, starter()}) {
    const std::string base = "/proc/" + std::to_string(pid);
    out.refused("open " + base + "/mem", try_open(base + "/mem", O_RDWR), refused);
    out.refused("open " + base + "/environ", try_open(base + "/environ", O_RDONLY), refused);
    out.refused("open " + base + "/maps", try_open(base + "/maps", O_RDONLY), refused);
    out.holds("list " + base + "/fd", names_in(base + "/fd").empty(), "its descriptors");
  }
  // Its stream: what it is told, and what it tells.
  for (const char* number : {"3", "4"}) {
    for (const int how : {O_RDONLY, O_WRONLY}) {
      out.refused(std::string{"open /proc/1/fd/"} + number,
                  try_open(std::string{"/proc/1/fd/"} + number, how | O_NONBLOCK), refused);
    }
  }
  signal_init(words, out);
  // Seized, not attached: where it comes through, the other one is not stopped, and is free again
  // when we end.
  out.refused("ptrace 1",
              ask_child([] { return call(SYS_ptrace, PTRACE_SEIZE, 1, nullptr, nullptr); }),
              {EPERM, ESRCH, ENOSYS});
}

// On ourselves or on -1, where the kernel alone would say yes or EBADF.
void foreign_memory(const Words& words, Findings& out) {
  const pid_t own = ::getpid();
  out.refused("process_vm_readv", call(SYS_process_vm_readv, own, nullptr, 0, nullptr, 0, 0),
              {EPERM});
  out.refused("process_vm_writev", call(SYS_process_vm_writev, own, nullptr, 0, nullptr, 0, 0),
              {EPERM});
  out.refused("kcmp", call(SYS_kcmp, own, own, KCMP_VM, 0, 0), {EPERM});
  out.refused("pidfd_getfd", call(SYS_pidfd_getfd, -1, 0, 0), {EPERM});
  out.refused("process_madvise", call(SYS_process_madvise, -1, nullptr, 0, 0, 0), {EPERM});
  out.refused("process_mrelease", call(SYS_process_mrelease, -1, 0), {EPERM, ENOSYS});
  std::array<char, 8> word{};
  const iovec here{word.data(), word.size()};
  const auto pid_of_host = static_cast<pid_t>(words.number("pid", 0));
  for (const pid_t pid : {pid_t{1}, pid_of_host}) {
    if (pid == 0) continue;
    const std::string name = pid == 1 ? "the first process" : "a process of the host";
    out.attempt("read memory of " + name, call(SYS_process_vm_readv, pid, &here, 1, &here, 1, 0),
                {EPERM, ESRCH});
    out.attempt("compare with " + name, call(SYS_kcmp, own, pid, KCMP_VM, 0, 0), {EPERM, ESRCH});
    const Answer handle = call(SYS_pidfd_open, pid, 0);
    out.attempt("take a descriptor of " + name,
                handle.failed() ? handle : call(SYS_pidfd_getfd, handle.value, 0, 0),
                {EPERM, ESRCH, ENOSYS});
    if (!handle.failed()) ::close(static_cast<int>(handle.value));
  }
}

void trace_child(const Words&, Findings& out) {
  out.refused("PTRACE_TRACEME",
              ask_child([] { return call(SYS_ptrace, PTRACE_TRACEME, 0, nullptr, nullptr); }),
              {EPERM, ENOSYS});
}

// Leaves `--count` daemons behind that end by themselves after a while, in case nobody ends them.
void daemons(const Words& words, Findings& out) {
  const long wanted = words.number("count", 20);
  long made = 0;
  for (long i = 0; i < wanted; ++i) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child > 0) {
      (void)::waitpid(child, nullptr, 0);
      ++made;
      continue;
    }
    (void)::setsid();
    for (const int each : {SIGTERM, SIGHUP, SIGINT}) (void)std::signal(each, SIG_IGN);
    if (::fork() == 0) {
      // Free of our output, or the driver would wait for its end.
      for (int fd = 0; fd < 3; ++fd) ::close(fd);
      (void)::alarm(static_cast<unsigned>(words.number("life", 15)));
      for (;;) (void)::pause();
    }
    ::_exit(0);
  }
  out.holds("daemons left behind", true, std::to_string(made));
  out.control("some were made", made > 0, "none");
}

void stop_all(const Words& words, Findings& out) {
  out.holds("stop the first process", true, text_of(answer(::kill(1, SIGSTOP))));
  out.holds("stop the parent", true,
            text_of(answer(::getppid() > 1 ? ::kill(::getppid(), SIGSTOP) : -1)));
  for (const int each : {SIGTERM, SIGHUP, SIGINT}) (void)std::signal(each, SIG_IGN);
  // A parent in vfork waits for a child that never executes.
  if (words.has("hold")) ::sleep(static_cast<unsigned>(words.number("hold", 30)));
}

// Free of every string that ties us to the supervisor; the driver then kills it.
void untied(const Words& words, Findings& out) {
  (void)::prctl(PR_SET_PDEATHSIG, 0);
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)::setsid();
  for (const int each : {SIGTERM, SIGHUP, SIGINT, SIGPIPE}) (void)std::signal(each, SIG_IGN);
  if (::fork() == 0) {
    (void)::setsid();
    ::sleep(static_cast<unsigned>(words.number("hold", 20)));
    ::_exit(0);
  }
  (void)::write(STDERR_FILENO, "ready\n", 6);
  ::sleep(static_cast<unsigned>(words.number("hold", 20)));
  out.holds("held", true, "to the end");
}

// Opens programs by /proc/PID/exe without reading, waits until they are over, reopens for writing.
// `--victim P` is a process that the driver offers and that may be ended.
void overwrite_program(const Words& words, Findings& out) {
  const auto victim = static_cast<pid_t>(words.number("victim", 0));
  const auto refused = {EACCES, EPERM, ENOENT, ETXTBSY, EROFS, ESRCH};
  for (const pid_t pid : {pid_t{1}, victim}) {
    if (pid == 0) continue;
    const std::string path = "/proc/" + std::to_string(pid) + "/exe";
    out.refused("write " + path, try_open(path, O_WRONLY), refused);
    const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (fd < 0) {
      out.refused("hold " + path, answer(-1), refused);
      continue;
    }
    if (pid == victim) {
      (void)::kill(victim, SIGKILL);
      ::usleep(300'000);
    }
    out.refused("reopen " + path, try_open("/proc/self/fd/" + std::to_string(fd), O_WRONLY),
                refused);
    ::close(fd);
  }
  out.refused("write /proc/self/exe", try_open("/proc/self/exe", O_WRONLY), refused);
}

void working_directory(const Words& words, Findings& out) {
  const std::string here = current_directory();
  const bool inside = here.starts_with('/') && !here.starts_with("(unreachable)");
  out.holds("the working directory has a path", inside, here.empty() ? name_of_error(errno) : here);
  struct stat by_fd{};
  struct stat by_path{};
  const bool same = ::stat(".", &by_fd) == 0 && ::stat(here.c_str(), &by_path) == 0 &&
                    by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev;
  out.holds("and lies where it says", same, here);
  for (const std::string& canary : words.list("canary")) {
    out.refused("climb to " + canary, try_open("../../../../../../../../.." + canary, O_RDONLY),
                {ENOENT});
  }
}

std::string output_of(const std::function<void()>& become) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    become();
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  (void)::waitpid(child, nullptr, 0);
  return text;
}

void by_memfd(const char* program, char* const* argv) {
  const int fd =
      ::memfd_create("program", 0);  // NOLINT(android-cloexec-memfd-create): it is executed
  const std::string bytes = read_text(program, 64 << 20);
  if (::write(fd, bytes.data(), bytes.size()) < 0) return;
  (void)call(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}

// The same acts however the program is started: every answer is the same, byte for byte.
void other_loaders(const Words&, Findings& out) {
  const std::string program = "./probe";
  const std::string rows = "C013,C063,C064,C066,C083,C087,C096,C098,C101";
  if (::access(program.c_str(), X_OK) != 0) return out.skip("not started beside ./probe");
  const std::array<const char*, 4> words = {program.c_str(), "--batch", rows.c_str(), nullptr};
  char* const* const argv = const_cast<char* const*>(words.data());
  const std::string direct = output_of([&] { (void)::execv(program.c_str(), argv); });
  out.control("a direct start answers", direct.find("C101") != std::string::npos,
              direct.substr(0, 80));
  const std::string line = program + " --batch " + rows;
  const auto same = [&](const std::string& how, const std::string& text) {
    out.holds(how, text == direct,
              text == direct ? "the same answers" : "other answers: " + text.substr(0, 80));
  };
  same("memfd", output_of([&] { by_memfd(program.c_str(), argv); }));
  same("preload", output_of([&] {
         (void)::setenv("LD_PRELOAD", "./preload.so", 1);
         (void)::execv(program.c_str(), argv);
       }));
  if (::access("/bin/sh", X_OK) == 0) {
    same("shell", output_of([&] { (void)::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr); }));
    constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";
    if (::access(kLoader, X_OK) == 0) {
      same("loader", output_of([&] {
             (void)::execl(kLoader, kLoader, "/bin/sh", "-c", line.c_str(), nullptr);
           }));
    }
  }
  const int script = ::open("script", O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
  const std::string text = "#!" + current_directory() + "/probe --batch=\n";
  if (script >= 0) {
    const bool wrote = ::write(script, text.data(), text.size()) > 0;
    ::close(script);
    out.control("a script can be made", wrote, "not here");
    // The interpreter gets one word and the script's name: only that it starts under the fences.
    const int code = in_child([] { return ::execl("./script", "./script", nullptr); });
    out.holds("script", code != 128 + SIGSYS, "exit " + std::to_string(code));
    (void)::unlink("script");
  }
}

constexpr Row kRows[] = {
    {"C026", signals},       {"C027", memory_of_init},    {"C028", foreign_memory},
    {"C029", trace_child},   {"C030", daemons},           {"C031", stop_all},
    {"C032", untied},        {"C033", overwrite_program}, {"C036", working_directory},
    {"C037", other_loaders},
};

}  // namespace

std::span<const Row> process_rows() { return kRows; }

}  // namespace cordon::probe
