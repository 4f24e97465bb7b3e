// SPDX-License-Identifier: Apache-2.0
// Groups M and Q: the terminal of whoever started us, and what is printed to them.
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

void print(const std::string& text) { (void)!::write(STDOUT_FILENO, text.data(), text.size()); }

// Sequences that must not reach a terminal, each between marks, so that the driver can tell them
// apart.
std::vector<std::string> hostile_sequences() {
  const std::string escape = "\x1b";
  const std::string bell = "\x07";
  const std::string end = escape + "\\";
  std::vector<std::string> all;
  for (const std::string& stop : {bell, end}) {
    for (const char* const target : {"c", "p", "s", "0", "", "cps"}) {
      all.push_back(joined({escape, "]52;", target, ";aGVsbG8=", stop}));
      all.push_back(joined({escape, "]52;", target, ";?", stop}));
    }
  }
  for (const char* const query : {"21t", "20t"}) all.push_back(joined({escape, "[", query}));
  for (const char* const body :
       {"$qm", "$q\"p", "+q544e", "1$r0m", "tmux;x", "0;1|17/41", "q#0;2;0;0;0"}) {
    all.push_back(joined({escape, "P", body, end}));
  }
  for (const char* const opener : {"_", "^", "X"}) {
    all.push_back(joined({escape, opener, "hello", end}));
  }
  all.push_back("\x05");  // answerback
  // The 8-bit forms of CSI, OSC, DCS, APC, PM.
  for (const char* const c1 : {"\x9b"
                               "31m",
                               "\x9d"
                               "0;x\x9c",
                               "\x90"
                               "x\x9c",
                               "\x9f"
                               "x\x9c",
                               "\x9e"
                               "x\x9c"})
    all.emplace_back(c1);
  return all;
}

void escapes(const Words& words, Findings& out) {
  const std::vector<std::string> all = hostile_sequences();
  if (words.has("emit")) {
    for (std::size_t i = 0; i < all.size(); ++i)
      print("<" + std::to_string(i) + ">" + all[i] + "</" + std::to_string(i) + ">\n");
    print("\x1b[31mred\x1b[0m\n");
  }
  out.holds("sequences", true, std::to_string(all.size()));
}

void inject(const Words& words, Findings& out) {
  const std::string text = "injected\n";
  for (const char* const path : {"/dev/stdin", "/dev/tty"}) {
    const int fd =
        std::string_view{path} == "/dev/stdin" ? STDIN_FILENO : ::open(path, O_RDWR | O_CLOEXEC);
    Answer got{-1, errno};
    if (fd >= 0) {
      for (const char& c : text) got = answer(::ioctl(fd, TIOCSTI, &c));
    }
    out.refused(std::string{"TIOCSTI on "} + path, got, {EPERM, ENOTTY, ENXIO, ENOENT, EBADF});
    // Of our own terminal only we ourselves read what was so typed.
    struct stat about{};
    const bool theirs = fd >= 0 && ::fstat(fd, &about) == 0 && ::isatty(fd) == 1 &&
                        std::to_string(about.st_dev) == words.get("pts-device");
    out.attempt(std::string{"type into the caller's terminal by "} + path,
                theirs ? got : Answer{-1, ENXIO}, {EPERM, ENXIO});
    out.refused(std::string{"TIOCLINUX on "} + path, answer(::ioctl(fd, TIOCLINUX, "\x02")),
                {EPERM, ENOTTY, EBADF});
  }
}

// `--pts N --pts-device D`: the terminal of the caller and its instance of devpts.
void steal(const Words& words, Findings& out) {
  const std::string device = words.get("pts-device");
  out.refused("open /dev/console", try_open("/dev/console", O_RDWR | O_NONBLOCK), {ENOENT, EACCES});
  for (const std::string& path : {"/dev/pts/" + words.get("pts", "0"), std::string{"/dev/tty"},
                                  std::string{"/proc/self/fd/0"}}) {
    struct stat about{};
    const int fd = ::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    (void)::fstat(fd, &about);
    const bool theirs =
        S_ISCHR(about.st_mode) && ::isatty(fd) == 1 && std::to_string(about.st_dev) == device;
    out.holds(path + " is not the caller's", !theirs, theirs ? "the caller's terminal" : "our own");
    if (theirs) out.refused("make it ours", answer(::ioctl(fd, TIOCSCTTY, 1)), {EPERM});
    ::close(fd);
  }
}

// Questions whose answers a terminal would type; nobody reads them here.
void questions(const Words& words, Findings& out) {
  if (words.has("emit")) {
    for (const char* const query : {"\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[5n", "\x1b]10;?\x07",
                                    "\x1b]11;?\x07", "\x1b]52;c;?\x07", "\x1b[21t"}) {
      print(query);
    }
  }
  out.holds("asked", true, "8 questions");
}

void leave_modes(const Words& words, Findings& out) {
  termios mode{};
  if (::tcgetattr(STDIN_FILENO, &mode) == 0) {
    ::cfmakeraw(&mode);
    (void)::tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  }
  print("\x1b[?1049h\x1b[?1000h\x1b[?2004h\x1b[?25l\x1b[>1u");
  if (words.has("die")) (void)::raise(SIGKILL);
  out.holds("modes left", true, "raw, alternate screen, mouse, paste");
}

void own_group(const Words&, Findings& out) {
  (void)std::signal(SIGTERM, SIG_IGN);
  out.holds("kill(0)", true, text_of(answer(::kill(0, SIGTERM))));
  out.holds("a session of our own", ::getsid(0) > 0, std::to_string(::getsid(0)));
}

void odd_names(const Words&, Findings& out) {
  std::size_t made = 0;
  for (const std::string& name :
       {std::string{"new\nline"}, std::string{"\x1b[31mred"}, std::string{"-rf"},
        std::string{"%00"}, std::string{"Case"}, std::string{"case"}, std::string{"CON"},
        std::string(255, 'n'), std::string{"\xff\xfe"}, std::string{"\xe2\x80\xaetxt"}}) {
    if (!try_open(name, O_CREAT | O_WRONLY).failed()) ++made;
  }
  out.holds("names made", true, std::to_string(made));
  out.control("some were made", made > 5, std::to_string(made));
}

// Says that all went well, in words that look like ours; `--exit` or `--signal` tell how it really
// ends.
void forge(const Words& words, Findings& out) {
  print(R"({"verdict":{"ending":"exit","status":0},"forged":true})"
        "\n"
        "cordon: sandbox ok, level full\n");
  out.holds("forged", true, "a report");
  if (words.has("signal")) (void)::raise(static_cast<int>(words.number("signal", SIGKILL)));
  if (words.has("exit")) ::_exit(static_cast<int>(words.number("exit", 137)));
}

constexpr Row kRows[] = {
    {"C189", escapes}, {"C196", odd_names}, {"C199", forge},       {"C241", inject},
    {"C242", steal},   {"C243", questions}, {"C244", leave_modes}, {"C245", own_group},
};

}  // namespace

std::span<const Row> terminal_rows() { return kRows; }

}  // namespace cordon::probe
